//! Shader modules, programs, and caches of programs.
//!
//! A program is compiled once for each combination of SPIR-V words, entry point, stage and values
//! of specialization constants. A device shares its live programs, and a pipeline cache keeps its
//! programs alive. Cache data contain programs as text (`Program::to_text`), with the build's
//! version and a checksum. The data are not trusted: every loaded program must pass verification,
//! and its code is generated again.

mod binary;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use ash::vk;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use vitric_base::host_memory;
use vitric_exec::Program;
use vitric_gpu::pipeline::CompiledPipeline;
use vitric_ir::interface::Shader;
use vitric_spirv as spirv;
use vitric_spirv::{Module, Specialization};

pub use self::binary::{BinaryKey, PipelineBinary, global_key, pipeline_key, with_binary};
use crate::debug::Messages;
use crate::{Error, Result, physical};

/// Number of programs from which on dead entries are removed.
const SWEEP: usize = 256;

/// Maximum number of recent graphics pipelines whose kernels equal pipelines can share.
const MAX_RECENT: usize = 64;

/// Magic number of cache data, after the header that the specification defines.
const MAGIC: &[u8; 8] = b"vitric01";

/// Size of `VkPipelineCacheHeaderVersionOne` in bytes.
const HEADER: usize = 32;

/// Digest of a stage's key.
type StageDigest = [u8; 16];

/// Size of the checksum in bytes.
const CHECKSUM: usize = 8;

/// Size of a saved program in bytes without its text: its key, and the text's length.
const ENTRY: usize = size_of::<StageDigest>() + 8;

/// Identifier of a shader module: a digest of its words.
pub type Identifier = [u8; 16];

/// A parsed shader module.
#[derive(Debug)]
pub struct ShaderModule {
    module: Module,
    identifier: Identifier,
    /// Name in messages; empty if the application set none.
    name: Mutex<Box<str>>,
}

impl ShaderModule {
    /// Parses the words of a shader module.
    ///
    /// # Errors
    /// [`Error::InvalidShader`] or [`Error::OutOfHostMemory`], with a message that says why.
    pub fn new(messages: &Messages, words: &[u32]) -> Result<Arc<Self>> {
        let module = spirv::parse(words).map_err(|error| {
            messages.error(&format!("vkCreateShaderModule: {error}"));
            refusal(&error)
        })?;
        Ok(Arc::new(Self { module, identifier: identify(words), name: Mutex::default() }))
    }

    /// Returns the module's identifier.
    pub fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// Sets the module's name in messages. An empty name removes it.
    pub fn set_name(&self, name: &str) {
        *self.name.lock() = name.into();
    }
}

/// Returns the result of a command whose shader failed to parse or compile.
fn refusal(error: &spirv::Error) -> Error {
    if *error == spirv::Error::OutOfMemory { Error::OutOfHostMemory } else { Error::InvalidShader }
}

/// Returns the identifier of a module with these words. The digest is collision-resistant.
pub fn identify(words: &[u32]) -> Identifier {
    digest(&words)
}

/// Properties of a shader stage that determine its program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StageKey {
    /// Identifier of the module.
    pub identifier: Identifier,
    /// Name of the entry point.
    pub entry: String,
    /// Stage (one bit).
    pub stage: vk::ShaderStageFlags,
    /// Ids of specialization constants, and the bits of their values.
    pub specialization: Specialization,
    /// Flags of its pipeline.
    pub flags: StageFlags,
}

/// Flags of a pipeline that change the programs of its stages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StageFlags {
    /// True if view indices are device indices.
    pub views_are_devices: bool,
    /// True if the pipeline asks for 64-bit indexing.
    pub is_far: bool,
}

impl StageKey {
    /// Returns the digest that identifies the program in saved data.
    fn digest(&self) -> StageDigest {
        digest(self)
    }
}

/// A shader stage of a pipeline.
#[derive(Debug, Clone)]
pub struct StageDesc {
    /// Properties that determine the program.
    pub key: StageKey,
    /// Module, or `None` if the program must be in a cache or in a binary.
    pub module: Option<Arc<ShaderModule>>,
    /// Program of a pipeline binary, which has precedence over the module.
    pub program: Option<Arc<Program>>,
}

impl StageDesc {
    /// Compiles the program. Returns `None` if the stage has no module.
    fn compile(&self) -> Option<std::result::Result<Arc<Program>, spirv::Error>> {
        let module = &self.module.as_ref()?.module;
        let StageKey { entry, stage, specialization, flags, .. } = &self.key;
        let mut changed = flags.views_are_devices.then(|| module.with_devices_for_views());
        if flags.is_far {
            changed = Some(changed.as_ref().unwrap_or(module).with_64_bit_indexing());
        }
        let shader = spirv::compile(changed.as_ref().unwrap_or(module), entry, *stage, specialization);
        Some(shader.map(|shader| Arc::new(Program::new(shader, entry))))
    }

    /// Returns the stage's description for messages.
    fn describe(&self) -> String {
        let name = self.module.as_ref().map(|module| module.name.lock().clone()).unwrap_or_default();
        match &*name {
            "" => format!("entry point {:?}", self.key.entry),
            name => format!("entry point {:?} of shader module {name:?}", self.key.entry),
        }
    }
}

/// Returns the first 16 bytes of the SHA-256 of hashable content.
fn digest(content: &impl Hash) -> [u8; 16] {
    let mut hasher = Sha256Hasher(Sha256::new());
    content.hash(&mut hasher);
    first_bytes(hasher.0)
}

/// Returns the first 8 bytes of the SHA-256 of `bytes`.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    first_bytes(Sha256::new_with_prefix(bytes))
}

fn first_bytes<const COUNT: usize>(hash: Sha256) -> [u8; COUNT] {
    let hash = hash.finalize();
    std::array::from_fn(|index| hash[index])
}

/// A hasher that feeds all bytes into a SHA-256.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        u64::from_le_bytes(first_bytes(self.0.clone()))
    }
}

/// Live programs of a device, by their stages. They are the device's internal cache, together with
/// the recent pipelines.
#[derive(Debug, Default)]
pub struct Programs {
    /// True if the application disabled the internal cache. Programs are shared only while
    /// pipelines hold them, and no recent pipeline is kept.
    keeps_none: bool,
    alive: Mutex<HashMap<StageKey, Weak<Program>>>,
    /// Most recent graphics pipelines, the newest last. Equal pipelines share their kernels.
    recent: Mutex<VecDeque<CompiledPipeline>>,
}

impl Programs {
    /// Returns no programs. With `keeps_none`, no pipeline is kept after the application destroys
    /// it.
    pub fn new(keeps_none: bool) -> Self {
        Self { keeps_none, ..Self::default() }
    }

    /// Shares the kernels of an equal recent pipeline with a new one, if there is one.
    pub fn share(&self, pipeline: &mut CompiledPipeline) {
        if self.keeps_none {
            return;
        }
        let mut recent = self.recent.lock();
        if let Some(found) = recent.iter().position(|other| other.state() == pipeline.state()) {
            pipeline.share_kernels(&recent[found]);
            // A pipeline that was requested again becomes the newest.
            if let Some(found) = recent.remove(found) {
                recent.push_back(found);
            }
            return;
        }
        if recent.len() >= MAX_RECENT {
            recent.pop_front();
        }
        recent.push_back(pipeline.clone());
    }

    fn find(&self, stage: &StageKey) -> Option<Arc<Program>> {
        self.alive.lock().get(stage).and_then(Weak::upgrade)
    }

    fn insert(&self, stage: &StageKey, program: &Arc<Program>) {
        let mut alive = self.alive.lock();
        if alive.len() >= SWEEP && alive.len().is_power_of_two() {
            alive.retain(|_, program| program.strong_count() > 0);
        }
        alive.insert(stage.clone(), Arc::downgrade(program));
    }

    /// Returns the program of a stage from the cache or from the live programs, or compiles it.
    ///
    /// # Errors
    /// [`Error::InvalidShader`] or [`Error::OutOfHostMemory`], with a message that says why;
    /// [`Error::CompileRequired`] if the stage has no module and its program is not found.
    pub fn get(&self, messages: &Messages, stage: &StageDesc, cache: Option<&PipelineCache>) -> Result<Arc<Program>> {
        let key = &stage.key;
        let in_binary = || stage.program.clone();
        let found = in_binary().or_else(|| cache.and_then(|cache| cache.find(key))).or_else(|| self.find(key));
        let made = found.map(Ok).or_else(|| stage.compile()).ok_or(Error::CompileRequired)?;
        let program = made.map_err(|error| {
            messages.error(&format!("{}: {error}", stage.describe()));
            refusal(&error)
        })?;
        self.insert(key, &program);
        if let Some(cache) = cache {
            cache.insert(key, &program);
        }
        Ok(program)
    }

    /// Returns true if the program of a stage is in its binary, in the cache, or among the live
    /// ones.
    pub fn has(&self, stage: &StageDesc, cache: Option<&PipelineCache>) -> bool {
        let key = &stage.key;
        stage.program.is_some() || cache.is_some_and(|cache| cache.has(key)) || self.find(key).is_some()
    }

    /// Returns the binary of a live program.
    ///
    /// # Errors
    /// [`Error::BinaryMissing`] if the program is not alive.
    pub fn binary(&self, stage: &StageKey) -> Result<Arc<PipelineBinary>> {
        let program = self.find(stage).ok_or(Error::BinaryMissing)?;
        Ok(Arc::new(PipelineBinary::new(stage, program)))
    }

    /// Compiles missing programs in parallel and returns them, which keeps them alive. Stages that
    /// fail to compile are skipped: [`Programs::get`] reports the error.
    pub fn prepare(&self, stages: &[StageDesc], cache: Option<&PipelineCache>) -> Vec<Arc<Program>> {
        let mut missing: Vec<&StageDesc> = Vec::new();
        for stage in stages {
            if !self.has(stage, cache) && !missing.iter().any(|other| other.key == stage.key) {
                missing.push(stage);
            }
        }
        // Reading the number of processors opens files, which costs more than a known pipeline.
        if missing.len() < 2 {
            return Vec::new();
        }
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(missing.len());
        if workers < 2 || !host_memory::has_room_for_threads(workers) {
            return Vec::new();
        }
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(stage) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Some(Ok(program)) = stage.compile() {
                    self.insert(&stage.key, &program);
                    made.lock().push(program);
                }
            }
        };
        std::thread::scope(|scope| {
            // A failure to start a thread leaves its work to the other threads.
            (1..workers).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
            work();
        });
        made.into_inner()
    }
}

/// A pipeline cache: programs that it keeps alive, by their stages, and saved programs, by their
/// keys.
#[derive(Debug, Default)]
pub struct PipelineCache {
    programs: Mutex<HashMap<StageKey, Cached>>,
    saved: Mutex<HashMap<StageDigest, Arc<str>>>,
    restored: AtomicUsize,
}

/// A program of a cache. Its saved text is kept, because applications query a cache's data
/// repeatedly, first for its size.
#[derive(Debug, Clone)]
struct Cached {
    program: Arc<Program>,
    saved: OnceLock<Arc<str>>,
}

impl PipelineCache {
    /// Creates a cache from the output of [`PipelineCache::data`]. Damaged data and data of
    /// another driver, build or device are ignored.
    pub fn new(data: &[u8]) -> Self {
        let saved = Mutex::new(read_data(data).unwrap_or_default());
        Self { saved, ..Self::default() }
    }

    fn find(&self, stage: &StageKey) -> Option<Arc<Program>> {
        let alive = self.programs.lock().get(stage).map(|cached| cached.program.clone());
        alive.or_else(|| self.restore(stage))
    }

    fn insert(&self, stage: &StageKey, program: &Arc<Program>) {
        let mut programs = self.programs.lock();
        if programs.get(stage).is_none_or(|cached| !Arc::ptr_eq(&cached.program, program)) {
            programs.insert(stage.clone(), Cached { program: program.clone(), saved: OnceLock::new() });
        }
    }

    /// Returns true if the cache holds the program of a stage.
    pub fn has(&self, stage: &StageKey) -> bool {
        self.find(stage).is_some()
    }

    /// Loads a saved program. An invalid one is removed.
    fn restore(&self, stage: &StageKey) -> Option<Arc<Program>> {
        if self.saved.lock().is_empty() {
            return None;
        }
        let text = self.saved.lock().remove(&stage.digest())?;
        let shader = Shader::from_text(&text).filter(|shader| shader.stage == stage.stage)?;
        let program = Arc::new(Program::new(shader, &stage.entry));
        self.restored.fetch_add(1, Ordering::Relaxed);
        self.programs.lock().insert(stage.clone(), Cached { program: program.clone(), saved: text.into() });
        Some(program)
    }

    /// Adds all programs of another cache.
    pub fn merge(&self, other: &Self) {
        let taken: Vec<_> =
            other.programs.lock().iter().map(|(stage, cached)| (stage.clone(), cached.clone())).collect();
        self.programs.lock().extend(taken);
        let saved: Vec<_> = other.saved.lock().iter().map(|(key, text)| (*key, text.clone())).collect();
        self.saved.lock().extend(saved);
    }

    /// Returns the number of programs in the cache that were compiled or loaded.
    pub fn len(&self) -> usize {
        self.programs.lock().len()
    }

    /// Returns true if no program of the cache was compiled or loaded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of programs that were loaded from initial data instead of compiled.
    pub fn restored(&self) -> usize {
        self.restored.load(Ordering::Relaxed)
    }

    /// Returns the size of the complete data in bytes.
    pub fn size(&self) -> usize {
        let bodies: usize = self.entries().values().map(|text| ENTRY + text.len()).sum();
        HEADER + if bodies == 0 { 0 } else { MAGIC.len() + CHECKSUM + bodies }
    }

    /// Returns the cache's programs as at most `limit` bytes of data, and true if the data are
    /// complete. The data are the header that the specification defines, a magic number, a
    /// checksum of all bytes after it, and whole programs. They are empty if the header does not
    /// fit.
    pub fn data(&self, limit: usize) -> (Vec<u8>, bool) {
        let mut data = header();
        if limit < data.len() {
            return (Vec::new(), false);
        }
        let mut complete = true;
        data.extend_from_slice(MAGIC);
        data.extend_from_slice(&[0; CHECKSUM]);
        let begin = data.len();
        for (key, text) in self.entries() {
            if data.len() + ENTRY + text.len() > limit {
                complete = false;
                continue;
            }
            data.extend_from_slice(&key);
            data.extend_from_slice(&(text.len() as u64).to_le_bytes());
            data.extend_from_slice(text.as_bytes());
        }
        if data.len() > begin {
            let checksum = checksum(&data[begin..]);
            data[begin - CHECKSUM..begin].copy_from_slice(&checksum);
        } else {
            data.truncate(HEADER);
        }
        (data, complete)
    }

    /// Returns the saved text of each program.
    fn entries(&self) -> BTreeMap<StageDigest, Arc<str>> {
        let mut entries: BTreeMap<_, _> = self.saved.lock().iter().map(|(key, text)| (*key, text.clone())).collect();
        entries.extend(self.programs.lock().iter().map(|(stage, cached)| {
            let saved = cached.saved.get_or_init(|| cached.program.to_text().into());
            (stage.digest(), saved.clone())
        }));
        entries
    }
}

/// Returns the bytes of `VkPipelineCacheHeaderVersionOne`.
fn header() -> Vec<u8> {
    let properties = physical::properties();
    let version = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
    let words = [HEADER as u32, version, properties.vendor_id, properties.device_id];
    let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    data.extend_from_slice(&properties.pipeline_cache_uuid);
    data
}

/// Returns the programs in cache data; `None` if the data are damaged or from another build.
fn read_data(data: &[u8]) -> Option<HashMap<StageDigest, Arc<str>>> {
    let rest = data.strip_prefix(header().as_slice())?.strip_prefix(MAGIC)?;
    let (stored, mut body) = rest.split_at_checked(CHECKSUM)?;
    if checksum(body) != stored {
        return None;
    }
    let mut saved = HashMap::new();
    while !body.is_empty() {
        let (key, rest) = body.split_first_chunk::<16>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (text, rest) = rest.split_at_checked(length)?;
        saved.insert(*key, Arc::from(std::str::from_utf8(text).ok()?));
        body = rest;
    }
    Some(saved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_data_starts_with_the_header() {
        let (data, complete) = PipelineCache::default().data(usize::MAX);
        assert_eq!((data.len(), complete, PipelineCache::default().size()), (32, true, 32));
        assert_eq!(data[..8], [32, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(data[16..], physical::cache_uuid());
    }

    /// Returns a cache of two programs and its data.
    fn filled() -> (PipelineCache, Vec<u8>) {
        let (programs, messages, cache) = (Programs::default(), Messages::default(), PipelineCache::default());
        for constant in [1, 2] {
            programs.get(&messages, &stage("main", constant), Some(&cache)).unwrap();
        }
        let (data, complete) = cache.data(usize::MAX);
        assert!(complete && data.len() > 100);
        assert_eq!((cache.data(usize::MAX).0, cache.size()), (data.clone(), data.len()), "asked for again");
        (cache, data)
    }

    #[test]
    fn programs_come_back_from_cache_data() {
        let (first, data) = filled();
        let cache = PipelineCache::new(&data);
        let (programs, messages) = (Programs::default(), Messages::default());
        let again = programs.get(&messages, &stage("main", 1), Some(&cache)).unwrap();
        assert_eq!(cache.restored(), 1);
        assert_eq!(again.to_text(), first.find(&stage("main", 1).key).unwrap().to_text());
        programs.get(&messages, &stage("main", 3), Some(&cache)).unwrap();
        assert_eq!(cache.restored(), 1, "what was not saved is compiled");
        assert_eq!(PipelineCache::new(&cache.data(usize::MAX).0).saved.lock().len(), 3);
        let merged = PipelineCache::default();
        merged.merge(&PipelineCache::new(&data));
        assert_eq!(merged.data(usize::MAX).0, data, "merging takes what was not read back yet");
    }

    #[test]
    fn a_part_of_the_data_is_whole_programs() {
        let (cache, data) = filled();
        for limit in [0, 31, 32, 33, data.len() / 2 + 40, data.len() - 1] {
            let (part, complete) = cache.data(limit);
            assert!(part.len() <= limit && !complete);
            let known = PipelineCache::new(&part).saved.lock().len();
            assert_eq!(known, usize::from(limit > data.len() / 2), "{limit} of {} bytes", data.len());
        }
    }

    #[test]
    fn foreign_and_damaged_data_is_ignored() {
        let (_, data) = filled();
        let taken = |data: &[u8]| PipelineCache::new(data).saved.lock().len();
        assert_eq!(taken(&data), 2);
        for length in 0..data.len() {
            assert_eq!(taken(&data[..length]), 0, "{length} bytes");
        }
        for at in 0..data.len() {
            let mut damaged = data.clone();
            damaged[at] ^= 1 << (at % 8);
            assert_eq!(taken(&damaged), 0, "byte {at}");
        }
    }

    #[test]
    fn a_forged_program_of_another_stage_is_compiled_instead() {
        let forged: HashMap<StageDigest, Arc<str>> =
            [(stage("main", 1).key.digest(), Arc::from("stage 1\nir\n"))].into();
        let cache = PipelineCache { saved: Mutex::new(forged), ..PipelineCache::default() };
        let program = Programs::default().get(&Messages::default(), &stage("main", 1), Some(&cache)).unwrap();
        assert_eq!((program.stage, cache.restored()), (vk::ShaderStageFlags::COMPUTE, 0));
    }

    #[test]
    fn bad_modules_are_refused_with_a_message() {
        let messages = Messages::default();
        assert_eq!(ShaderModule::new(&messages, &[1, 2, 3]).unwrap_err(), Error::InvalidShader);
    }

    pub(super) fn stage(entry: &str, constant: u64) -> StageDesc {
        let bytes = include_bytes!("../../cts/shaders/unary.comp.spv");
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let module = ShaderModule::new(&Messages::default(), &words).unwrap();
        let key = StageKey {
            identifier: module.identifier(),
            entry: entry.into(),
            stage: vk::ShaderStageFlags::COMPUTE,
            specialization: vec![(0, constant)],
            flags: StageFlags::default(),
        };
        StageDesc { key, module: Some(module), program: None }
    }

    #[test]
    fn programs_are_found_without_their_modules() {
        let (programs, messages, cache) = (Programs::default(), Messages::default(), PipelineCache::default());
        let whole = stage("main", 1);
        let named = StageDesc { module: None, ..whole.clone() };
        let missing = programs.get(&messages, &named, Some(&cache));
        assert_eq!(missing.unwrap_err(), Error::CompileRequired);
        let made = programs.get(&messages, &whole, Some(&cache)).unwrap();
        assert!(Arc::ptr_eq(&made, &programs.get(&messages, &named, None).unwrap()));
        let later = PipelineCache::new(&cache.data(usize::MAX).0);
        let read = Programs::default().get(&messages, &named, Some(&later)).unwrap();
        assert_eq!(read.to_text(), made.to_text());
        let other = StageDesc { key: StageKey { identifier: [0; 16], ..named.key }, module: None, program: None };
        assert_eq!(programs.get(&messages, &other, Some(&later)).unwrap_err(), Error::CompileRequired);
    }

    #[test]
    fn programs_are_shared_by_what_they_are_made_of() {
        let (programs, messages) = (Programs::default(), Messages::default());
        let first = programs.get(&messages, &stage("main", 1), None).unwrap();
        let again = programs.get(&messages, &stage("main", 1), None).unwrap();
        let other = programs.get(&messages, &stage("main", 2), None).unwrap();
        assert!(Arc::ptr_eq(&first, &again) && !Arc::ptr_eq(&first, &other));
        let wrong = stage("nothing", 1);
        assert_eq!(programs.get(&messages, &wrong, None).unwrap_err(), Error::InvalidShader);
        wrong.module.as_ref().unwrap().set_name("sky");
        assert_eq!(wrong.describe(), "entry point \"nothing\" of shader module \"sky\"");
    }

    #[test]
    fn a_cache_keeps_its_programs_and_merges_others() {
        let (programs, messages) = (Programs::default(), Messages::default());
        let (cache, target) = (PipelineCache::default(), PipelineCache::default());
        let address = Arc::as_ptr(&programs.get(&messages, &stage("main", 1), Some(&cache)).unwrap());
        assert_eq!((cache.len(), programs.find(&stage("main", 1).key).is_some()), (1, true));
        target.merge(&cache);
        drop(cache);
        let found = programs.get(&messages, &stage("main", 1), Some(&target)).unwrap();
        assert_eq!(Arc::as_ptr(&found), address);
        drop((found, target));
        assert!(programs.find(&stage("main", 1).key).is_none(), "nothing keeps it alive any more");
    }

    #[test]
    fn stages_are_compiled_in_parallel_once_each() {
        let programs = Programs::default();
        let stages: Vec<StageDesc> = (0..6).map(|number| stage("main", number % 3)).collect();
        let kept = programs.prepare(&stages, None);
        if std::thread::available_parallelism().map_or(1, usize::from) > 1 {
            assert_eq!(kept.len(), 3);
            assert!(stages.iter().all(|stage| programs.find(&stage.key).is_some()));
        }
    }
}
