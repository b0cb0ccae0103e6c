//! Shader modules, programs, and the caches of programs.
//!
//! A program is compiled once for what it is made of: the module's words, the entry point, the stage and the values of
//! specialization constants. A device shares the programs that are alive; a pipeline cache keeps its programs alive.
//! Cache data is the header that the specification defines and nothing behind it: initial data is never trusted.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use ash::vk;
use parking_lot::Mutex;
use vitric_backend::shader::Program;
use vitric_backend::shader::spirv::{self, Module, Specialization};

use crate::debug::Messages;
use crate::physical;
use crate::{Error, Result};

/// Programs beyond which those that died are swept out.
const SWEEP: usize = 256;

/// A shader module: parsed, and its words, which identify it.
#[derive(Debug)]
pub struct ShaderModule {
    module: Module,
    words: Box<[u32]>,
    digest: u64,
}

impl ShaderModule {
    /// Parses the words of a shader module.
    ///
    /// # Errors
    /// [`Error::InvalidShader`], with a message that says why.
    pub fn new(messages: &Messages, words: &[u32]) -> Result<Arc<Self>> {
        let module = spirv::parse(words).map_err(|error| {
            messages.error(&format!("vkCreateShaderModule: {error}"));
            Error::InvalidShader
        })?;
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        Ok(Arc::new(Self { module, words: words.into(), digest: hasher.finish() }))
    }
}

impl PartialEq for ShaderModule {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.words == other.words
    }
}

impl Eq for ShaderModule {}

impl Hash for ShaderModule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// One shader stage of a pipeline: all that its program is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StageDesc {
    /// Stage, one bit.
    pub stage: vk::ShaderStageFlags,
    /// Module.
    pub module: Arc<ShaderModule>,
    /// Name of the entry point.
    pub entry: String,
    /// Ids of specialization constants and the bits of their values.
    pub specialization: Specialization,
}

impl StageDesc {
    fn compile(&self) -> std::result::Result<Arc<Program>, spirv::Error> {
        spirv::compile(&self.module.module, &self.entry, self.stage, &self.specialization).map(Arc::new)
    }
}

/// The programs of a device that are alive, by what they are made of.
#[derive(Debug, Default)]
pub struct Programs {
    alive: Mutex<HashMap<StageDesc, Weak<Program>>>,
}

impl Programs {
    fn find(&self, stage: &StageDesc) -> Option<Arc<Program>> {
        self.alive.lock().get(stage).and_then(Weak::upgrade)
    }

    fn insert(&self, stage: &StageDesc, program: &Arc<Program>) {
        let mut alive = self.alive.lock();
        if alive.len() >= SWEEP && alive.len().is_power_of_two() {
            alive.retain(|_, program| program.strong_count() > 0);
        }
        alive.insert(stage.clone(), Arc::downgrade(program));
    }

    /// The program of a stage: found in the cache or among the live ones, else compiled.
    ///
    /// # Errors
    /// [`Error::InvalidShader`], with a message that says why.
    pub fn get(&self, messages: &Messages, stage: &StageDesc, cache: Option<&PipelineCache>) -> Result<Arc<Program>> {
        let found = cache.and_then(|cache| cache.find(stage)).or_else(|| self.find(stage));
        let program = found.map_or_else(|| stage.compile(), Ok).map_err(|error| {
            messages.error(&format!("entry point {:?}: {error}", stage.entry));
            Error::InvalidShader
        })?;
        self.insert(stage, &program);
        if let Some(cache) = cache {
            cache.programs.lock().insert(stage.clone(), program.clone());
        }
        Ok(program)
    }

    /// Compiles in parallel what is not there yet, and keeps it alive as long as the result. Stages that do not compile are
    /// passed over: [`Programs::get`] says why.
    pub fn prepare(&self, stages: &[StageDesc], cache: Option<&PipelineCache>) -> Vec<Arc<Program>> {
        let mut missing: Vec<&StageDesc> = Vec::new();
        for stage in stages {
            let known = cache.and_then(|cache| cache.find(stage)).or_else(|| self.find(stage)).is_some();
            if !known && !missing.contains(&stage) {
                missing.push(stage);
            }
        }
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(missing.len());
        if workers < 2 {
            return Vec::new();
        }
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(stage) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Ok(program) = stage.compile() {
                    self.insert(stage, &program);
                    made.lock().push(program);
                }
            }
        };
        std::thread::scope(|scope| {
            (1..workers).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        made.into_inner()
    }
}

/// A pipeline cache: programs that stay alive with it.
#[derive(Debug, Default)]
pub struct PipelineCache {
    programs: Mutex<HashMap<StageDesc, Arc<Program>>>,
}

impl PipelineCache {
    fn find(&self, stage: &StageDesc) -> Option<Arc<Program>> {
        self.programs.lock().get(stage).cloned()
    }

    /// Takes over what another cache holds.
    pub fn merge(&self, other: &Self) {
        let taken: Vec<_> =
            other.programs.lock().iter().map(|(stage, program)| (stage.clone(), program.clone())).collect();
        self.programs.lock().extend(taken);
    }

    /// Programs in the cache.
    pub fn len(&self) -> usize {
        self.programs.lock().len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The data of a pipeline cache: `VkPipelineCacheHeaderVersionOne`, 32 bytes.
pub fn cache_data() -> Vec<u8> {
    let properties = physical::properties();
    let header = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
    let words = [32, header, properties.vendor_id, properties.device_id];
    let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    data.extend_from_slice(&properties.pipeline_cache_uuid);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_data_is_the_header() {
        let data = cache_data();
        assert_eq!(data.len(), 32);
        assert_eq!(data[..8], [32, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(data[16..], physical::cache_uuid());
    }

    #[test]
    fn bad_modules_are_refused_with_a_message() {
        let messages = Messages::default();
        assert_eq!(ShaderModule::new(&messages, &[1, 2, 3]).unwrap_err(), Error::InvalidShader);
    }

    fn stage(entry: &str, constant: u64) -> StageDesc {
        let bytes = include_bytes!("../../cts/shaders/unary.comp.spv");
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let module = ShaderModule::new(&Messages::default(), &words).unwrap();
        let stage = vk::ShaderStageFlags::COMPUTE;
        StageDesc { stage, module, entry: entry.into(), specialization: vec![(0, constant)] }
    }

    #[test]
    fn programs_are_shared_by_what_they_are_made_of() {
        let (programs, messages) = (Programs::default(), Messages::default());
        let first = programs.get(&messages, &stage("main", 1), None).unwrap();
        let again = programs.get(&messages, &stage("main", 1), None).unwrap();
        let other = programs.get(&messages, &stage("main", 2), None).unwrap();
        assert!(Arc::ptr_eq(&first, &again) && !Arc::ptr_eq(&first, &other));
        assert_eq!(programs.get(&messages, &stage("nothing", 1), None).unwrap_err(), Error::InvalidShader);
    }

    #[test]
    fn a_cache_keeps_its_programs_and_merges_others() {
        let (programs, messages) = (Programs::default(), Messages::default());
        let (cache, target) = (PipelineCache::default(), PipelineCache::default());
        let address = Arc::as_ptr(&programs.get(&messages, &stage("main", 1), Some(&cache)).unwrap());
        assert_eq!((cache.len(), programs.find(&stage("main", 1)).is_some()), (1, true));
        target.merge(&cache);
        drop(cache);
        let found = programs.get(&messages, &stage("main", 1), Some(&target)).unwrap();
        assert_eq!(Arc::as_ptr(&found), address);
        drop((found, target));
        assert!(programs.find(&stage("main", 1)).is_none(), "nothing keeps it alive any more");
    }

    #[test]
    fn stages_are_compiled_in_parallel_once_each() {
        let programs = Programs::default();
        let stages: Vec<StageDesc> = (0..6).map(|number| stage("main", number % 3)).collect();
        let kept = programs.prepare(&stages, None);
        if std::thread::available_parallelism().map_or(1, usize::from) > 1 {
            assert_eq!(kept.len(), 3);
            assert!(stages.iter().all(|stage| programs.find(stage).is_some()));
        }
    }
}
