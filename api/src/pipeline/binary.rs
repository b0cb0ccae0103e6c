//! Pipeline binaries: programs of single stages that applications store.
//!
//! The data of a binary are the header of cache data, a magic number, a checksum, the identifier of
//! the shader module, the digest of the stage's key, and the program as text. As with cache data,
//! nothing trusts them: the text must pass verification, and code is generated again. Source:
//! Vulkan specification, "Pipeline Binaries".

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use vitric_exec::Program;
use vitric_ir::interface::Shader;

use super::{CHECKSUM, HEADER, Identifier, Sha256Hasher, StageDesc, StageDigest, StageKey, checksum, header};
use crate::debug::Messages;
use crate::{Error, Result, physical};

/// Magic number of the data.
const MAGIC: &[u8; 8] = b"vitricb1";

/// Size in bytes of the data before the text.
const PREFIX: usize = HEADER + MAGIC.len() + CHECKSUM + size_of::<Identifier>() + size_of::<StageDigest>();

/// Key of a binary: the build's UUID and the digest of the stage's key.
pub type BinaryKey = [u8; 32];

/// Returns the key that applies to all pipelines. It is the UUID of pipeline caches, because
/// programs depend on nothing else but the build.
pub fn global_key() -> [u8; 16] {
    physical::cache_uuid()
}

/// Returns the key of a pipeline with these stages. It depends on the parts of the pipeline's
/// create info that its binaries depend on.
pub fn pipeline_key<'a>(stages: impl Iterator<Item = &'a StageKey>) -> BinaryKey {
    let mut hasher = Sha256Hasher(Sha256::new_with_prefix(global_key()));
    stages.for_each(|stage| std::hash::Hash::hash(stage, &mut hasher));
    hasher.0.finalize().into()
}

/// A program of one stage.
#[derive(Debug)]
pub struct PipelineBinary {
    identifier: Identifier,
    digest: StageDigest,
    /// Shader that was read from data, until its program is needed.
    shader: Mutex<Option<Shader>>,
    program: OnceLock<Arc<Program>>,
    text: OnceLock<Arc<str>>,
}

impl PipelineBinary {
    /// Creates the binary of a compiled stage.
    pub fn new(stage: &StageKey, program: Arc<Program>) -> Self {
        Self {
            identifier: stage.identifier,
            digest: stage.digest(),
            shader: Mutex::default(),
            program: program.into(),
            text: OnceLock::new(),
        }
    }

    /// Reads a binary from the output of [`PipelineBinary::data`].
    ///
    /// # Errors
    /// [`Error::InitializationFailed`] if the data are damaged, from another build or have another
    /// key: a message was sent.
    pub fn read(messages: &Messages, key: &[u8], data: &[u8]) -> Result<Self> {
        let found = parse(data);
        let refusal = match &found {
            Err(reason) => reason,
            Ok(binary) if binary.key() != key => "the key is of another binary",
            Ok(_) => return found.map_err(|_| Error::InitializationFailed),
        };
        let size = data.len();
        messages.error(&format!(
            "VkPipelineBinaryKeysAndDataKHR: a pipeline binary of {size} bytes is not accepted: {refusal}: expected \
             unchanged data of vkGetPipelineBinaryDataKHR with an equal global key"
        ));
        Err(Error::InitializationFailed)
    }

    /// Returns the identifier of the shader module that the binary was made of.
    pub fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// Returns the binary's key.
    pub fn key(&self) -> BinaryKey {
        let bytes = [global_key(), self.digest].concat();
        std::array::from_fn(|index| bytes[index])
    }

    /// Returns the data, whose size does not change.
    pub fn data(&self) -> Vec<u8> {
        let text = self.text();
        let mut body = [self.identifier, self.digest].concat();
        body.extend_from_slice(text.as_bytes());
        let mut data = header();
        data.extend_from_slice(MAGIC);
        data.extend_from_slice(&checksum(&body));
        data.append(&mut body);
        data
    }

    /// Returns the size of the data in bytes.
    pub fn size(&self) -> usize {
        PREFIX + self.text().len()
    }

    fn text(&self) -> &Arc<str> {
        self.text.get_or_init(|| self.program.get().map(|program| program.to_text()).unwrap_or_default().into())
    }

    /// Returns the program, if the binary is of this stage.
    pub fn program(&self, stage: &StageKey) -> Option<Arc<Program>> {
        if stage.digest() != self.digest {
            return None;
        }
        // The lock keeps two threads from taking the shader.
        let mut shader = self.shader.lock();
        if let Some(shader) = shader.take_if(|shader| shader.stage == stage.stage) {
            self.program.get_or_init(|| Arc::new(Program::new(shader, &stage.entry)));
        }
        self.program.get().cloned()
    }
}

/// Returns the stage with the program of the binary that was made of it, among some. The module
/// and the identifier of the key are ignored, and those of the binary are taken.
pub fn with_binary(stage: StageKey, binaries: &[Arc<PipelineBinary>]) -> Option<StageDesc> {
    binaries.iter().find_map(|binary| {
        let key = StageKey { identifier: binary.identifier(), ..stage.clone() };
        let program = binary.program(&key)?;
        Some(StageDesc { key, module: None, program: Some(program) })
    })
}

/// Returns the binary in data, or the reason why there is none.
fn parse(data: &[u8]) -> std::result::Result<PipelineBinary, &'static str> {
    const DAMAGED: &str = "the data are damaged";
    let rest = data.strip_prefix(header().as_slice()).ok_or("the data are of another driver, build or device")?;
    let rest = rest.strip_prefix(MAGIC).ok_or(DAMAGED)?;
    let (stored, body) = rest.split_at_checked(CHECKSUM).ok_or(DAMAGED)?;
    if checksum(body) != stored {
        return Err(DAMAGED);
    }
    let (identifier, body) = body.split_first_chunk().ok_or(DAMAGED)?;
    let (digest, text) = body.split_first_chunk().ok_or(DAMAGED)?;
    let text = std::str::from_utf8(text).map_err(|_| DAMAGED)?;
    let shader = Shader::from_text(text).ok_or("the program is not valid")?;
    Ok(PipelineBinary {
        identifier: *identifier,
        digest: *digest,
        shader: Mutex::new(Some(shader)),
        program: OnceLock::new(),
        text: OnceLock::from(Arc::from(text)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Programs, tests::stage};
    use super::*;

    fn made(constant: u64) -> PipelineBinary {
        let stage = stage("main", constant);
        let program = Programs::default().get(&Messages::default(), &stage, None).unwrap();
        PipelineBinary::new(&stage.key, program)
    }

    fn read(key: &[u8], data: &[u8]) -> Result<PipelineBinary> {
        PipelineBinary::read(&Messages::default(), key, data)
    }

    #[test]
    fn programs_come_back_from_their_data_without_a_module() {
        let binary = made(1);
        let again = Arc::new(read(&binary.key(), &binary.data()).unwrap());
        assert_eq!((again.key(), again.data(), again.size()), (binary.key(), binary.data(), binary.data().len()));
        let unnamed = StageKey { identifier: [0; 16], ..stage("main", 1).key };
        let found = with_binary(unnamed.clone(), &[Arc::new(made(2)), again]).unwrap();
        assert_eq!(found.key, stage("main", 1).key);
        let program = Programs::default().get(&Messages::default(), &found, None).unwrap();
        assert_eq!(program.to_text(), *binary.text().as_ref());
        assert!(with_binary(unnamed, &[Arc::new(made(2))]).is_none(), "a binary of another stage");
    }

    #[test]
    fn foreign_and_damaged_data_are_refused() {
        let (binary, other) = (made(1), made(2));
        let (key, data) = (binary.key(), binary.data());
        assert!(read(&other.key(), &data).is_err());
        for key in [&key[..0], &key[..31]] {
            assert!(read(key, &data).is_err());
        }
        for length in 0..data.len() {
            assert!(read(&key, &data[..length]).is_err(), "{length} bytes");
        }
        for at in 0..data.len() {
            let mut damaged = data.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(read(&key, &damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn forged_programs_are_refused_or_not_used() {
        let binary = made(1);
        let forge = |text: &str| {
            let forged = PipelineBinary { text: OnceLock::from(Arc::from(text)), ..made(1) };
            read(&binary.key(), &forged.data())
        };
        assert!(forge("stage 1\nir\nOutput 0, %0\n").is_err() && forge("").is_err());
        let vertex = binary.text().replace("stage 32", "stage 1");
        assert!(forge(&vertex).is_ok_and(|forged| forged.program(&stage("main", 1).key).is_none()));
    }

    #[test]
    fn keys_of_pipelines_depend_on_their_stages() {
        let (first, second) = (stage("main", 1).key, stage("main", 2).key);
        let key = |stages: &[&StageKey]| pipeline_key(stages.iter().copied());
        assert_eq!(key(&[&first]), key(&[&stage("main", 1).key]));
        assert_ne!(key(&[&first]), key(&[&second]));
        assert_ne!(key(&[&first]), key(&[&first, &second]));
    }

    #[test]
    fn a_disabled_internal_cache_still_shares_live_programs() {
        let programs = Programs::new(true);
        let wanted = stage("main", 1);
        assert_eq!(programs.binary(&wanted.key).unwrap_err(), Error::BinaryMissing);
        let made = programs.get(&Messages::default(), &wanted, None).unwrap();
        assert_eq!(programs.binary(&wanted.key).unwrap().key(), PipelineBinary::new(&wanted.key, made).key());
    }
}
