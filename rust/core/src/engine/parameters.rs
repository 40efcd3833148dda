//! A metric's parameters, by name.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::Refused;

/// A kernel's parameters by name, as the metric's Python value holds them. Reading a parameter takes it out, so that
/// [`Parameters::finish`] knows those that nobody read. The Python value checks first, so users meet what is refused here
/// only as a bug.
#[derive(Debug, Default, Clone)]
pub struct Parameters(BTreeMap<String, Value>);

/// The value of a parameter.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// One of a list of names.
    Text(String),
}

impl<N: Into<String>> FromIterator<(N, Value)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(values: I) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl Parameters {
    fn take(&mut self, name: &str) -> Result<Value, Refused> {
        self.0.remove(name).ok_or_else(|| Refused(format!("parameter {name} is missing")))
    }

    /// Whether the parameter was given and has not been read.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A finite number within the range.
    pub fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Result<f64, Refused> {
        match self.take(name)? {
            Value::Number(number) if range.contains(&number) => Ok(number),
            other => Err(Refused(format!("parameter {name} must be a number in {range:?}, got {other:?}"))),
        }
    }

    /// A finite number above 0.
    pub fn positive(&mut self, name: &str) -> Result<f64, Refused> {
        const SMALLEST: f64 = f64::from_bits(1);
        self.number(name, SMALLEST..=f64::MAX)
    }

    /// A whole number within the range.
    pub fn count(&mut self, name: &str, range: RangeInclusive<usize>) -> Result<usize, Refused> {
        match self.take(name)? {
            Value::Number(number) if number.fract() == 0.0 && number >= 0.0 && range.contains(&(number as usize)) => {
                Ok(number as usize)
            }
            other => Err(Refused(format!("parameter {name} must be a whole number in {range:?}, got {other:?}"))),
        }
    }

    /// Yes or no.
    pub fn flag(&mut self, name: &str) -> Result<bool, Refused> {
        match self.take(name)? {
            Value::Flag(flag) => Ok(flag),
            other => Err(Refused(format!("parameter {name} must be yes or no, got {other:?}"))),
        }
    }

    /// One of the choices, which map names to what they mean.
    pub fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Result<T, Refused> {
        let value = self.take(name)?;
        let chosen = |choice: &str| matches!(&value, Value::Text(text) if text == choice);
        choices.iter().find(|(choice, _)| chosen(choice)).map(|&(_, meaning)| meaning).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(choice, _)| *choice).collect();
            Refused(format!("parameter {name} must be one of {}, got {value:?}", names.join(", ")))
        })
    }

    /// Checks that every parameter was read.
    pub fn finish(&self) -> Result<(), Refused> {
        if self.0.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        Err(Refused(format!("no parameter is named {}", names.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_an_error() {
        let mut parameters: Parameters =
            [("beta", Value::Number(1.2)), ("gamma", Value::Number(9.0))].into_iter().collect();
        assert_eq!(parameters.number("beta", 0.0..=2.0), Ok(1.2));
        assert_eq!(parameters.finish(), Err(Refused("no parameter is named gamma".to_owned())));
        assert!(parameters.has("gamma"));
        assert_eq!(parameters.count("gamma", 0..=9), Ok(9));
        assert_eq!(parameters.finish(), Ok(()));
        assert!(parameters.number("gamma", 0.0..=9.0).is_err());
    }
}
