//! The stack machine: carries out the instructions that build plain values.

use std::borrow::Cow;

use super::PickleError;
use super::globals::{Global, is_little_endian};
use super::heap::{Heap, Value};
use super::input::Input;
use super::{literal, opcode as op};

/// The value that the pickle describes, and the tables it points into.
pub(super) fn run(bytes: &[u8]) -> Result<(Heap<'_>, Value), PickleError> {
    let mut machine = Machine {
        input: Input::new(bytes),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
        memoized: 0,
        heap: Heap::default(),
    };
    loop {
        match machine.input.opcode()? {
            op::STOP => break,
            opcode => machine.step(opcode)?,
        }
    }
    let root = machine.pop()?;
    Ok((machine.heap, root))
}

struct Machine<'a> {
    input: Input<'a>,
    stack: Vec<Value>,
    /// Heights of the stack that instructions such as `TUPLE` go back to.
    marks: Vec<u32>,
    memo: Vec<Option<Value>>,
    /// How many places of the memo are filled.
    memoized: usize,
    heap: Heap<'a>,
}

impl Machine<'_> {
    fn step(&mut self, opcode: u8) -> Result<(), PickleError> {
        let value = match self.text(opcode)? {
            Some(value) => Some(value),
            None => self.scalar(opcode)?,
        };
        match value {
            Some(value) => self.stack.push(value),
            None => match opcode {
                op::PROTO => {
                    let version = self.input.byte()?;
                    if version > 5 {
                        return Err(PickleError::Protocol { version });
                    }
                }
                op::FRAME => self.input.skip(8)?,
                op::PUT | op::BINPUT | op::LONG_BINPUT | op::MEMOIZE => self.put(opcode)?,
                op::GET | op::BINGET | op::LONG_BINGET => self.get(opcode)?,
                op::GLOBAL | op::STACK_GLOBAL | op::INST | op::REDUCE | op::BUILD => self.global(opcode)?,
                _ => self.collection(opcode)?,
            },
        }
        Ok(())
    }

    /// A text or bytes, if the instruction gives one.
    fn text(&mut self, opcode: u8) -> Result<Option<Value>, PickleError> {
        let input = &mut self.input;
        let bytes = match opcode {
            op::SHORT_BINUNICODE | op::SHORT_BINSTRING | op::SHORT_BINBYTES => input.sized::<1>()?,
            op::BINUNICODE | op::BINSTRING | op::BINBYTES => input.sized::<4>()?,
            op::BINUNICODE8 | op::BINBYTES8 | op::BYTEARRAY8 => input.sized::<8>()?,
            op::STRING | op::UNICODE => {
                let line = input.line()?;
                let text = if opcode == op::STRING { literal::quoted(line) } else { literal::unicode(line) };
                let text = text.ok_or_else(|| input.malformed("a text with a wrong escape"))?;
                return Ok(Some(self.heap.text(Cow::Owned(text))));
            }
            _ => return Ok(None),
        };
        let is_unicode = matches!(opcode, op::SHORT_BINUNICODE | op::BINUNICODE | op::BINUNICODE8);
        if is_unicode && std::str::from_utf8(bytes).is_err() {
            return Err(input.malformed("a text that is not UTF-8"));
        }
        Ok(Some(self.heap.text(Cow::Borrowed(bytes))))
    }

    /// A constant or number, if the instruction gives one.
    fn scalar(&mut self, opcode: u8) -> Result<Option<Value>, PickleError> {
        let input = &mut self.input;
        let number = match opcode {
            op::NONE => return Ok(Some(Value::None)),
            op::NEWTRUE | op::NEWFALSE => return Ok(Some(Value::Bool(opcode == op::NEWTRUE))),
            op::BININT1 => Some(f64::from(input.byte()?)),
            op::BININT2 => Some(f64::from(u16::from_le_bytes(input.array()?))),
            op::BININT => Some(f64::from(i32::from_le_bytes(input.array()?))),
            op::BINFLOAT => Some(f64::from_be_bytes(input.array()?)),
            op::LONG1 => literal::signed(input.sized::<1>()?).map(|number| number as f64),
            op::LONG4 => literal::signed(input.sized::<4>()?).map(|number| number as f64),
            op::FLOAT => literal::float(input.line()?),
            op::INT | op::LONG => match input.line()? {
                b"00" => return Ok(Some(Value::Bool(false))),
                b"01" => return Ok(Some(Value::Bool(true))),
                line => literal::integer(line).map(|number| number as f64),
            },
            _ => return Ok(None),
        };
        let number = number.ok_or_else(|| input.malformed("a number that is none, or has more than 64 bits"))?;
        Ok(Some(self.heap.number(number)))
    }

    fn stack(&mut self, opcode: u8) -> Result<(), PickleError> {
        match opcode {
            op::MARK => self.marks.push(self.stack.len() as u32),
            op::POP if self.marks.last().is_some_and(|&mark| mark as usize == self.stack.len()) => {
                self.marks.pop();
            }
            op::POP => {
                self.pop()?;
            }
            op::POP_MARK => {
                let start = self.pop_mark()?;
                self.stack.truncate(start);
            }
            op::DUP => {
                let top = self.top()?;
                self.stack.push(top);
            }
            _ => return Err(self.input.unknown(opcode)),
        }
        Ok(())
    }

    fn collection(&mut self, opcode: u8) -> Result<(), PickleError> {
        match opcode {
            op::EMPTY_TUPLE => self.tuple(self.stack.len()),
            op::TUPLE1 | op::TUPLE2 | op::TUPLE3 => {
                let start = self.below(usize::from(opcode - op::TUPLE1) + 1)?;
                self.tuple(start);
            }
            op::TUPLE => {
                let start = self.pop_mark()?;
                self.tuple(start);
            }
            op::EMPTY_LIST => self.stack.push(Value::List),
            op::LIST => {
                let start = self.pop_mark()?;
                self.stack.truncate(start);
                self.stack.push(Value::List);
            }
            op::APPEND | op::APPENDS => {
                let start = if opcode == op::APPEND { self.below(1)? } else { self.pop_mark()? };
                self.stack.truncate(start);
                if self.top()? != Value::List {
                    return Err(self.input.malformed("items are added to what is no list"));
                }
            }
            op::EMPTY_DICT => {
                let dict = self.heap.dict();
                self.stack.push(dict);
            }
            op::DICT => {
                let start = self.pop_mark()?;
                let dict = self.heap.dict();
                self.stack.insert(start, dict);
                self.set_items(start + 1)?;
            }
            op::SETITEM => self.below(2).and_then(|start| self.set_items(start))?,
            op::SETITEMS => self.pop_mark().and_then(|start| self.set_items(start))?,
            _ => self.stack(opcode)?,
        }
        Ok(())
    }

    /// Makes the values from this height of the stack on a tuple.
    fn tuple(&mut self, start: usize) {
        let tuple = self.heap.tuple(self.stack.drain(start..));
        self.stack.push(tuple);
    }

    /// Gives the values from this height of the stack on, keys and values in turn, to the dictionary below them.
    fn set_items(&mut self, start: usize) -> Result<(), PickleError> {
        let (below, items) = self.stack.split_at(start);
        let (Some(&Value::Dict(dict)), 0) = (below.last(), items.len() % 2) else {
            return Err(self.input.malformed("entries are given to what is no dictionary, or a key has no value"));
        };
        for pair in items.chunks_exact(2) {
            self.heap.set(dict, pair[0], pair[1]);
        }
        self.stack.truncate(start);
        Ok(())
    }

    fn put(&mut self, opcode: u8) -> Result<(), PickleError> {
        let place = if opcode == op::MEMOIZE { self.memoized } else { self.place(opcode)? };
        // Every place is filled by an instruction of its own, so an honest number is below the number of bytes.
        if place >= self.input.len() {
            return Err(self.input.malformed("a memo number larger than the pickle"));
        }
        let value = self.top()?;
        if place >= self.memo.len() {
            self.memo.resize(place + 1, None);
        }
        self.memoized += usize::from(self.memo[place].replace(value).is_none());
        Ok(())
    }

    fn get(&mut self, opcode: u8) -> Result<(), PickleError> {
        let place = self.place(opcode)?;
        let value = self.memo.get(place).copied().flatten();
        let value = value.ok_or_else(|| self.input.malformed("a memo number that was never given"))?;
        self.stack.push(value);
        Ok(())
    }

    /// The memo number that the instruction names.
    fn place(&mut self, opcode: u8) -> Result<usize, PickleError> {
        Ok(match opcode {
            op::BINPUT | op::BINGET => usize::from(self.input.byte()?),
            op::LONG_BINPUT | op::LONG_BINGET => u32::from_le_bytes(self.input.array()?) as usize,
            _ => literal::integer(self.input.line()?)
                .and_then(|place| usize::try_from(place).ok())
                .ok_or_else(|| self.input.malformed("a memo number that is none"))?,
        })
    }

    fn global(&mut self, opcode: u8) -> Result<(), PickleError> {
        match opcode {
            op::REDUCE => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                let called = match callee {
                    Value::Global(global) => global.call(arguments, &mut self.heap),
                    _ => None,
                };
                let value =
                    called.ok_or_else(|| self.input.malformed("a call that document frequencies have no need of"))?;
                self.stack.push(value);
            }
            op::BUILD => {
                let (state, built) = (self.pop()?, self.top()?);
                let state = self.heap.as_tuple(state).unwrap_or_default();
                if !matches!(built, Value::Dtype(_)) || !is_little_endian(state, &self.heap) {
                    return Err(self.input.malformed("a state that document frequencies have no need of"));
                }
            }
            op::STACK_GLOBAL => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Some(module), Some(name)) = (self.heap.as_text(module), self.heap.as_text(name)) else {
                    return Err(self.input.malformed("a name that is no text"));
                };
                let global = Global::named(module, name).ok_or_else(|| self.input.refused(module, name))?;
                self.stack.push(Value::Global(global));
            }
            _ => {
                let (module, name) = (self.input.line()?, self.input.line()?);
                let global = Global::named(module, name).filter(|_| opcode == op::GLOBAL);
                let global = global.ok_or_else(|| self.input.refused(module, name))?;
                self.stack.push(Value::Global(global));
            }
        }
        Ok(())
    }

    /// The height of the stack below its topmost values, which are to be above the last mark.
    fn below(&self, values: usize) -> Result<usize, PickleError> {
        let floor = self.marks.last().map_or(0, |&mark| mark as usize);
        let start = self.stack.len().checked_sub(values).filter(|&start| start >= floor);
        start.ok_or_else(|| self.input.malformed("an instruction lacks its operands"))
    }

    fn top(&self) -> Result<Value, PickleError> {
        self.below(1).map(|top| self.stack[top])
    }

    fn pop(&mut self) -> Result<Value, PickleError> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    /// The height of the stack at the last mark, which is taken away.
    fn pop_mark(&mut self) -> Result<usize, PickleError> {
        let mark = self.marks.pop().ok_or_else(|| self.input.malformed("an instruction lacks its mark"))?;
        Ok(mark as usize)
    }
}
