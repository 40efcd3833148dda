//! Needs of metrics in addition to captions, as Python passes them: any sequence of native objects.

use std::sync::Arc;

use pyo3::prelude::*;
use sacrecap_core::engine::{Resource, Resources};

use crate::chair::NamedObjects;
use crate::document_frequency::DocumentFrequency;
use crate::embedded::{Embedded, SentenceVectors};
use crate::english::Synonyms;
use crate::errors::refuse;
use crate::language::LanguageModel;
use crate::meteor::MeteorTables;
use crate::paragraphs::{Paragraphs, StatementFrequencies};
use crate::spice::SceneGraphs;

/// The resources by their type. A new type of resource adds its name here, and no argument anywhere.
macro_rules! resources {
    ($($kind:ident),+; $last:ident) => {
        pub(crate) fn gather(objects: &[Bound<'_, PyAny>], threads: usize) -> PyResult<Resources> {
            let mut resources = Resources::new(threads);
            for object in objects {
                resources = $(if let Ok(given) = object.cast::<$kind>() {
                    add(resources, given.get().0.clone())?
                } else)+ if let Ok(given) = object.cast::<$last>() {
                    add(resources, given.get().0.clone())?
                } else {
                    let kinds = [$(stringify!($kind)),+].join(", ");
                    refuse!(
                        "{} is not a resource of a metric; give {kinds} or {} objects of sacrecap._core",
                        object.get_type().name()?,
                        stringify!($last),
                    );
                };
            }
            Ok(resources)
        }
    };
}
resources!(
    DocumentFrequency, MeteorTables, Embedded, SceneGraphs, SentenceVectors, Paragraphs, StatementFrequencies,
    NamedObjects, Synonyms; LanguageModel
);

fn add<R: Resource>(resources: Resources, resource: Arc<R>) -> PyResult<Resources> {
    if resources.get::<R>().is_some() {
        refuse!("{} were given twice; give them once", R::NAME);
    }
    Ok(resources.with(resource))
}
