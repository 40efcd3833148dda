//! Optimal transport of many problems at once.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::numeric::interrupt::check;
use sacrecap_core::numeric::parallel::map_parts;
use sacrecap_core::numeric::transport::Transport;

use crate::convert::{floats, to_bytes};
use crate::errors::refuse;
use crate::interrupt::detach;

/// Values; plans, row by row; duals of rows and columns.
type Solved<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The place where a problem's numbers begin among those of all.
struct Place {
    rows: usize,
    columns: usize,
    supply: usize,
    demand: usize,
    cost: usize,
}

/// Solves each problem of `sizes` (rows, columns); all supplies, demands and costs are float64, one after the other.
/// Returns values, plans (row by row), and duals of rows and columns.
#[pyfunction]
#[pyo3(signature = (sizes, supplies, demands, costs, plans=true, threads=0))]
pub(crate) fn transport(
    py: Python<'_>,
    sizes: Vec<(usize, usize)>,
    supplies: PyBackedBytes,
    demands: PyBackedBytes,
    costs: PyBackedBytes,
    plans: bool,
    threads: usize,
) -> PyResult<Solved<'_>> {
    let (supplies, demands, costs) = (floats(&supplies)?, floats(&demands)?, floats(&costs)?);
    let (mut places, mut supply, mut demand, mut cost) = (Vec::with_capacity(sizes.len()), 0, 0, 0);
    for (rows, columns) in sizes {
        places.push(Place { rows, columns, supply, demand, cost });
        (supply, demand, cost) = (supply + rows, demand + columns, cost + rows * columns);
    }
    if (supply, demand, cost) != (supplies.len(), demands.len(), costs.len()) {
        refuse!("the numbers of masses and costs are not those of the sizes");
    }
    let bad = |value: &f64| !value.is_finite() || *value < 0.0;
    if supplies.iter().chain(&demands).chain(&costs).any(bad) {
        refuse!("masses and costs must be finite and not negative");
    }
    let parts = detach(py, || {
        map_parts(places.len(), threads, |range| {
            let mut transport = Transport::default();
            let (mut values, mut moved, mut duals) = (Vec::with_capacity(range.len()), Vec::new(), Vec::new());
            for place in &places[range] {
                check();
                values.push(transport.solve(
                    &supplies[place.supply..][..place.rows],
                    &demands[place.demand..][..place.columns],
                    &costs[place.cost..][..place.rows * place.columns],
                ));
                if plans {
                    let cells = (0..place.rows).flat_map(|i| (0..place.columns).map(move |j| (i, j)));
                    moved.extend(cells.map(|(i, j)| transport.moved(i, j)));
                    let (u, v) = transport.duals();
                    duals.extend(u.into_iter().chain(v));
                }
            }
            (values, moved, duals)
        })
    })?;
    Ok((
        to_bytes(py, parts.iter().flat_map(|part| part.0.iter().copied())),
        to_bytes(py, parts.iter().flat_map(|part| part.1.iter().copied())),
        to_bytes(py, parts.iter().flat_map(|part| part.2.iter().copied())),
    ))
}
