//! Resources that metrics need besides captions: document frequencies, tables of a language, vectors.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use crate::Refused;

/// Something that a metric may need beside captions.
pub trait Resource: Any + Send + Sync {
    /// Its name in messages.
    const NAME: &'static str;
}

/// Resources by their type, at most one of each.
#[derive(Debug, Default, Clone)]
pub struct Resources {
    by_type: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    threads: usize,
}

impl Resources {
    /// No resource; metrics prepare themselves with so many threads, 0 for one per core.
    pub fn new(threads: usize) -> Self {
        Self { by_type: HashMap::new(), threads }
    }

    /// The same with this resource in the place of any of its type.
    #[must_use]
    pub fn with<R: Resource>(mut self, resource: Arc<R>) -> Self {
        self.by_type.insert(TypeId::of::<R>(), resource);
        self
    }

    /// The resource of that type, if it was given.
    pub fn get<R: Resource>(&self) -> Option<&R> {
        self.by_type.get(&TypeId::of::<R>())?.downcast_ref()
    }

    /// The resource of that type, which the metric cannot do without.
    pub fn need<R: Resource>(&self) -> Result<&R, Refused> {
        self.get().ok_or_else(|| missing(R::NAME))
    }

    /// The same resources for another number of threads.
    pub(super) fn with_threads(&self, threads: usize) -> Self {
        Self { threads, ..self.clone() }
    }

    /// Number of threads, 0 for one per core.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

/// The refusal for a resource that a metric needs and was not given.
pub fn missing(what: impl Display) -> Refused {
    Refused(format!("needs {what}, which were not given"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Tables(u8);

    impl Resource for Tables {
        const NAME: &'static str = "tables";
    }

    struct Vectors;

    impl Resource for Vectors {
        const NAME: &'static str = "vectors";
    }

    #[test]
    fn resources_are_found_by_type() {
        let resources = Resources::new(3).with(Arc::new(Tables(1))).with(Arc::new(Tables(2)));
        assert_eq!(resources.need(), Ok(&Tables(2)));
        assert_eq!(resources.threads(), 3);
        assert!(resources.get::<Vectors>().is_none());
        let missing = resources.need::<Vectors>().err().map(|missing| missing.to_string());
        assert_eq!(missing.as_deref(), Some("needs vectors, which were not given"));
    }
}
