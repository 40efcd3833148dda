//! Exact optimal transport between two small bags: the cheapest way to move one set of masses onto another.
//!
//! minimise Σ T_ij c_ij  over T ≥ 0 with row sums a and column sums b.
//!
//! Shortest augmenting paths (the transportation form of the Hungarian method): duals u, v with u_i + v_j ≤ c_ij are
//! kept throughout, mass moves only where u_i + v_j = c_ij, and each step sends as much as possible along a shortest
//! path of the residual graph. So the plan is optimal whenever it is complete, ties and zero masses need no
//! perturbation as the simplex does, and nothing has to be tuned. The first duals are column and row minima, along
//! which most of a caption's mass already moves; what is left takes a search each.

/// The share of its mass that a node may keep: rounding leaves such small rests, and no node is that light.
const CRUMB: f64 = 4.0 * f64::EPSILON;

/// Solves one problem after the other in the same memory.
///
/// The duals and the plan are those of the last problem. Inside, the smaller side has the rows: a search then scans few
/// long rows.
#[derive(Debug, Default)]
pub struct Transport {
    /// Whether the caller's columns are the rows here.
    turned: bool,
    columns: usize,
    /// Row by row.
    cost: Vec<f64>,
    /// Column by column: a search asks which rows send to a column.
    flow: Vec<f64>,
    rows: Vec<Row>,
    /// Mass each column still takes, and what it took at first.
    room: Vec<f64>,
    demand: Vec<f64>,
    dual: Vec<f64>,
    search: Search,
}

#[derive(Debug, Default, Clone, Copy)]
struct Row {
    supply: f64,
    left: f64,
    dual: f64,
    /// Length of the shortest path to it; infinite while the search has not reached it.
    distance: f64,
    /// The column before it on that path.
    from: usize,
}

#[derive(Debug, Default)]
struct Search {
    /// Of each column: the length of the shortest path found, and the row before it.
    distance: Vec<f64>,
    from: Vec<usize>,
    settled: Vec<bool>,
    /// Rows and columns in the order in which their paths became certain.
    reached_rows: Vec<usize>,
    settled_columns: Vec<usize>,
}

impl Transport {
    /// The optimal value; `cost` is row by row, `supply.len()` × `demand.len()`, and not negative.
    ///
    /// Masses are not negative, and their sums are equal up to rounding: what rounding leaves over stays where it is.
    /// An empty side has nothing to move, at no cost.
    pub fn solve(&mut self, supply: &[f64], demand: &[f64], cost: &[f64]) -> f64 {
        assert_eq!(cost.len(), supply.len() * demand.len(), "a cost for each pair");
        self.load(supply, demand, cost);
        if self.rows.is_empty() || self.columns == 0 {
            return 0.0;
        }
        if self.rows.len() == 1 {
            // One object or one word: there is one plan.
            self.flow.copy_from_slice(&self.demand);
            self.dual.copy_from_slice(&self.cost);
            return self.value();
        }
        self.first_duals();
        // What can move to where the minima are moves: there the first duals are tight.
        for column in 0..self.columns {
            self.move_at_most(self.search.from[column], column);
        }
        for row in 0..self.rows.len() {
            self.move_at_most(row, self.rows[row].from);
        }
        for row in 0..self.rows.len() {
            while self.rows[row].left > CRUMB * self.rows[row].supply {
                let Some(column) = self.shortest_path(row) else { break };
                self.raise_duals(column);
                self.augment(row, column);
            }
        }
        self.value()
    }

    /// Mass moved from `row` to `column`.
    pub fn moved(&self, row: usize, column: usize) -> f64 {
        let (row, column) = if self.turned { (column, row) } else { (row, column) };
        self.flow[self.cell(row, column)]
    }

    /// The duals of rows and of columns: u_i + v_j ≤ c_ij, with equality where mass moves, which proves the optimum.
    pub fn duals(&self) -> (Vec<f64>, Vec<f64>) {
        let rows = self.rows.iter().map(|row| row.dual).collect();
        let columns = self.dual.clone();
        if self.turned { (columns, rows) } else { (rows, columns) }
    }

    fn load(&mut self, supply: &[f64], demand: &[f64], cost: &[f64]) {
        self.turned = supply.len() > demand.len();
        let (short, long) = if self.turned { (demand, supply) } else { (supply, demand) };
        self.columns = long.len();
        self.rows.clear();
        self.rows.extend(short.iter().map(|&supply| Row { supply, left: supply, ..Row::default() }));
        self.cost.clear();
        if self.turned {
            for row in 0..short.len() {
                self.cost.extend(cost[row..].iter().step_by(short.len()));
            }
        } else {
            self.cost.extend_from_slice(cost);
        }
        self.flow.clear();
        self.flow.resize(cost.len(), 0.0);
        for masses in [&mut self.room, &mut self.demand] {
            masses.clear();
            masses.extend_from_slice(long);
        }
        for numbers in [&mut self.dual, &mut self.search.distance] {
            numbers.clear();
            numbers.resize(long.len(), f64::INFINITY);
        }
        self.search.from.clear();
        self.search.from.resize(long.len(), 0);
        self.search.settled.clear();
        self.search.settled.resize(long.len(), false);
    }

    /// v_j = min_i c_ij, then u_i = min_j (c_ij − v_j); the places of the minima are kept.
    fn first_duals(&mut self) {
        for (row, costs) in self.cost.chunks_exact(self.columns).enumerate() {
            for ((&cost, least), place) in costs.iter().zip(&mut self.dual).zip(&mut self.search.from) {
                if cost < *least {
                    (*least, *place) = (cost, row);
                }
            }
        }
        for (row, costs) in self.rows.iter_mut().zip(self.cost.chunks_exact(self.columns)) {
            row.dual = f64::INFINITY;
            for (column, (cost, dual)) in costs.iter().zip(&self.dual).enumerate() {
                if cost - dual < row.dual {
                    (row.dual, row.from) = (cost - dual, column);
                }
            }
        }
    }

    fn move_at_most(&mut self, row: usize, column: usize) {
        let amount = self.rows[row].left.min(self.room[column]);
        self.rows[row].left -= amount;
        self.room[column] -= amount;
        let cell = self.cell(row, column);
        self.flow[cell] += amount;
    }

    /// The place of the flow from a row to a column.
    fn cell(&self, row: usize, column: usize) -> usize {
        column * self.rows.len() + row
    }

    /// Dijkstra's search from a row to the nearest column that has room; None when no column has.
    fn shortest_path(&mut self, start: usize) -> Option<usize> {
        self.search.distance.fill(f64::INFINITY);
        self.search.settled.fill(false);
        self.search.reached_rows.clear();
        self.search.settled_columns.clear();
        self.rows.iter_mut().for_each(|row| row.distance = f64::INFINITY);
        self.reach(start, 0.0);
        loop {
            let column = self.nearest()?;
            if self.has_room(column) {
                return Some(column);
            }
            self.search.settled[column] = true;
            self.search.settled_columns.push(column);
            for row in 0..self.rows.len() {
                if self.flow[self.cell(row, column)] > 0.0 && self.rows[row].distance.is_infinite() {
                    self.rows[row].from = column;
                    self.reach(row, self.search.distance[column]);
                }
            }
        }
    }

    /// The nearest column that is not settled; of several, one that has room, which ends the search.
    fn nearest(&self) -> Option<usize> {
        let (mut nearest, mut least) = (None, f64::INFINITY);
        for (column, (&distance, settled)) in self.search.distance.iter().zip(&self.search.settled).enumerate() {
            if distance <= least && !settled && (distance < least || self.has_room(column)) {
                (nearest, least) = (Some(column), distance);
            }
        }
        nearest
    }

    fn has_room(&self, column: usize) -> bool {
        self.room[column] > CRUMB * self.demand[column]
    }

    /// Sets a row's distance and shortens the paths that go on from it.
    fn reach(&mut self, row: usize, distance: f64) {
        self.rows[row].distance = distance;
        self.search.reached_rows.push(row);
        let base = distance - self.rows[row].dual;
        let costs = &self.cost[row * self.columns..][..self.columns];
        let Search { distance: distances, from, .. } = &mut self.search;
        for (((cost, dual), shortest), place) in costs.iter().zip(&self.dual).zip(distances).zip(from) {
            // Rounding must not make a path shorter than its beginning: a settled column stays settled.
            let length = (base + (cost - dual)).max(distance);
            if length < *shortest {
                (*shortest, *place) = (length, row);
            }
        }
    }

    /// Makes the path tight, and nothing more than tight.
    fn raise_duals(&mut self, end: usize) {
        let length = self.search.distance[end];
        for &row in &self.search.reached_rows {
            self.rows[row].dual += length - self.rows[row].distance;
        }
        for &column in &self.search.settled_columns {
            self.dual[column] -= length - self.search.distance[column];
        }
    }

    /// Sends along the path what its ends and the flows that it takes back allow.
    fn augment(&mut self, start: usize, end: usize) {
        let mut amount = self.rows[start].left.min(self.room[end]);
        let mut column = end;
        while self.search.from[column] != start {
            let row = self.search.from[column];
            column = self.rows[row].from;
            amount = amount.min(self.flow[self.cell(row, column)]);
        }
        self.rows[start].left -= amount;
        self.room[end] -= amount;
        let mut column = end;
        loop {
            let row = self.search.from[column];
            let cell = self.cell(row, column);
            self.flow[cell] += amount;
            if row == start {
                return;
            }
            column = self.rows[row].from;
            let cell = self.cell(row, column);
            self.flow[cell] -= amount;
        }
    }

    fn value(&self) -> f64 {
        let row_value = |(row, costs): (usize, &[f64])| -> f64 {
            costs.iter().enumerate().map(|(column, cost)| cost * self.flow[self.cell(row, column)]).sum()
        };
        self.cost.chunks_exact(self.columns).enumerate().map(row_value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_move_costs_nothing() {
        let mut transport = Transport::default();
        assert_eq!(transport.solve(&[], &[1.0], &[]).to_bits(), 0.0_f64.to_bits());
        assert_eq!(transport.solve(&[1.0], &[], &[]).to_bits(), 0.0_f64.to_bits());
    }
}
