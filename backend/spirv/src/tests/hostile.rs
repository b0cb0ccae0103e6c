//! Tests with assembled modules that exceed limits: each is refused by name or compiles quickly.

use ash::vk;
use vitric_ir::interface::Resource;

use crate::{Error, Result, compile, parse};

/// Assembles instructions from operations and operands.
fn assemble(instructions: &[(spirv::Op, &[u32])]) -> Vec<u32> {
    let mut words = vec![spirv::MAGIC_NUMBER, 0x1_0000, 0, 1 << 20, 0];
    for (op, operands) in instructions {
        words.push((operands.len() as u32 + 1) << 16 | *op as u32);
        words.extend_from_slice(operands);
    }
    words
}

/// Assembles a compute entry point from the blocks of a function and declarations.
fn compute(declarations: &[(spirv::Op, &[u32])], body: &[(spirv::Op, &[u32])]) -> Vec<u32> {
    entry_point(spirv::ExecutionModel::GLCompute, declarations, body)
}

/// Assembles an entry point `main` (id 1) of type void() (ids 2, 3).
fn entry_point(
    model: spirv::ExecutionModel,
    declarations: &[(spirv::Op, &[u32])],
    body: &[(spirv::Op, &[u32])],
) -> Vec<u32> {
    use spirv::Op;
    let name = u32::from_le_bytes(*b"main");
    let mut all: Vec<(Op, &[u32])> = vec![(Op::TypeVoid, &[2]), (Op::TypeFunction, &[3, 2])];
    all.extend_from_slice(declarations);
    all.push((Op::Function, &[2, 1, 0, 3]));
    all.extend_from_slice(body);
    all.push((Op::FunctionEnd, &[]));
    let entry = [model as u32, 1, name, 0];
    let mut words = assemble(&[(Op::EntryPoint, &entry)]);
    words.extend(&assemble(&all)[5..]);
    words
}

fn refusal(words: &[u32]) -> Error {
    compile(&parse(words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).unwrap_err()
}

#[test]
fn the_smallest_program_compiles() {
    let words = compute(&[], &[(spirv::Op::Label, &[9]), (spirv::Op::Return, &[])]);
    assert!(compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).is_ok());
}

/// Debug instructions are dropped anywhere, but not trusted.
#[test]
fn debug_instructions_are_bounded() {
    use spirv::Op;
    let text = u32::from_le_bytes(*b"abc\0");
    let declarations = [(Op::String, &[30, text][..]), (Op::Name, &[9, text]), (Op::MemberName, &[9, 0, text])];
    let body = [(Op::Label, &[9][..]), (Op::Line, &[30, 1, 1]), (Op::Return, &[]), (Op::NoLine, &[])];
    let words = compute(&declarations, &body);
    assert!(compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).is_ok());
    let cut = assemble(&[(Op::Name, &[9, text])]);
    let error = parse(&cut[..cut.len() - 1]).unwrap_err();
    assert_eq!(error, Error::Malformed("an instruction reaches beyond the end"));
}

#[test]
fn types_of_missing_extensions_are_named_where_they_are_used() {
    use spirv::Op;
    // An array of four elements of the type in private memory, to which the function makes a
    // pointer.
    let uses = |ty: &[(Op, &[u32])]| {
        let mut declarations: Vec<(Op, &[u32])> = vec![
            (Op::TypeInt, &[4, 32, 0]),
            (Op::TypeFloat, &[5, 32]),
            (Op::Constant, &[4, 6, 4]),
            (Op::TypeForwardPointer, &[9, 6]),
        ];
        declarations.extend_from_slice(ty);
        let unused = compute(&declarations, &[(Op::Label, &[20]), (Op::Return, &[])]);
        assert!(compile(&parse(&unused).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).is_ok());
        declarations.extend_from_slice(&[(Op::TypeArray, &[8, 7, 6]), (Op::TypePointer, &[9, 7, 8])]);
        refusal(&compute(&declarations, &[(Op::Label, &[20]), (Op::Variable, &[9, 21, 7]), (Op::Return, &[])]))
    };
    for (width, encoding) in [(16, 4214), (8, 0), (8, 4213)] {
        let float = uses(&[(Op::TypeFloat, &[7, width, encoding])]);
        assert_eq!(float, Error::Unsupported(format!("{width}-bit floats of encoding {encoding}")));
    }
}

#[test]
fn matrices_have_supported_shapes() {
    use spirv::Op;
    // Constants: 3 is the scope of subgroups, 0 the use as a left factor.
    let of = |component: u32, rows: u32, columns: u32, scope: u32, usage: u32| {
        let constants = [rows, columns, scope, usage].map(|word| [4, word]);
        let ids: Vec<[u32; 3]> = (30..).zip(constants).map(|(id, [ty, word])| [ty, id, word]).collect();
        let mut declarations: Vec<(Op, &[u32])> =
            vec![(Op::TypeInt, &[4, 32, 0]), (Op::TypeFloat, &[5, 32]), (Op::TypeFloat, &[6, 64])];
        declarations.extend(ids.iter().map(|constant| (Op::Constant, &constant[..])));
        let matrix = [7, component, 32, 30, 31, 33];
        declarations.extend([(Op::TypeCooperativeMatrixKHR, &matrix[..]), (Op::TypePointer, &[9, 7, 7])]);
        let body: [(Op, &[u32]); 3] = [(Op::Label, &[20]), (Op::Variable, &[9, 21, 7]), (Op::Return, &[])];
        compile(&parse(&compute(&declarations, &body)).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new())
            .map(|_| ())
    };
    let unsupported = |what: &str| Err(Error::Unsupported(format!("cooperative matrices of {what}")));
    assert_eq!(of(5, 16, 64, 3, 0), Ok(()));
    assert_eq!(of(5, 8, 16, 3, 0), unsupported("8 rows and 16 columns"));
    assert_eq!(of(5, 16, 0, 3, 0), unsupported("16 rows and 0 columns"));
    assert_eq!(of(5, 0x8000_0000, 16, 3, 0), unsupported("2147483648 rows and 16 columns"));
    assert_eq!(of(5, 16, 16, 2, 0), unsupported("scope Some(Workgroup)"));
    assert_eq!(of(6, 16, 16, 3, 0), unsupported("Float(64)"));
    assert_eq!(of(7, 16, 16, 3, 0).map_err(|error| error.to_string().contains("matri")), Err(true));
    assert_eq!(of(5, 16, 16, 3, 3), Err(Error::Malformed("an unknown use of a matrix")));
}

#[test]
fn tile_images_are_variables_of_fragment_programs_with_locations() {
    use spirv::{Capability, Decoration, Dim, ExecutionModel, Op, StorageClass};
    let capability = [Capability::TileImageColorReadAccessEXT as u32];
    let (tile, other) = (StorageClass::TileImageEXT as u32, StorageClass::UniformConstant as u32);
    let (fragment, texels) = (ExecutionModel::Fragment, Dim::DimTileImageDataEXT as u32);
    // The function reads variable 7 of a storage class and of images of a dimension.
    let of = |model, class: u32, dim: u32, decoration: [u32; 3], read: (Op, &[u32])| {
        let (image, pointer, variable) = ([5, 4, dim, 0, 0, 0, 2, 0], [6, class, 5], [6, 7, class]);
        let declarations: [(Op, &[u32]); 7] = [
            (Op::Capability, &capability),
            (Op::Decorate, &decoration),
            (Op::TypeFloat, &[4, 32]),
            (Op::TypeImage, &image),
            (Op::TypePointer, &pointer),
            (Op::Variable, &variable),
            (Op::TypeVector, &[8, 4, 4]),
        ];
        let body = [(Op::Label, &[20][..]), (Op::Load, &[5, 21, 7]), read, (Op::Return, &[])];
        let stage = match model {
            ExecutionModel::Fragment => vk::ShaderStageFlags::FRAGMENT,
            _ => vk::ShaderStageFlags::COMPUTE,
        };
        compile(&parse(&entry_point(model, &declarations, &body)).unwrap(), "main", stage, &Vec::new())
    };
    let read = (Op::ColorAttachmentReadEXT, &[8, 22, 21][..]);
    let at = |location: u32| [7, Decoration::Location as u32, location];
    let interface = of(fragment, tile, texels, at(7), read).unwrap().interface;
    assert_eq!(interface.resources, [Resource { set: Resource::ATTACHMENTS, binding: 7 }]);
    assert!(interface.fragment.interlock && !interface.fragment.side_effects);
    let refusal =
        |model, class, dim, decoration, read| of(model, class, dim, decoration, read).map(|_| ()).unwrap_err();
    let unsupported = |what: &str| Error::Unsupported(what.into());
    assert_eq!(refusal(fragment, tile, texels, at(8), read), unsupported("a tile image at location 8"));
    let flat = [7, Decoration::Flat as u32, 0];
    assert_eq!(refusal(fragment, tile, texels, flat, read), Error::Malformed("a tile image without a location"));
    let of_another_type = Error::Malformed("a tile image of another stage or type");
    assert_eq!(refusal(fragment, tile, Dim::Dim2D as u32, at(0), read), of_another_type);
    assert_eq!(refusal(ExecutionModel::GLCompute, tile, texels, at(0), read), of_another_type);
    let of_another_class = Error::Malformed("a tile image of another stage or storage class");
    assert_eq!(refusal(fragment, other, texels, at(0), read), of_another_class);
    let depth = (Op::DepthAttachmentReadEXT, &[4, 22][..]);
    assert_eq!(refusal(ExecutionModel::GLCompute, other, texels, at(0), depth), of_another_class);
    let plain = (Op::ImageRead, &[8, 22, 21, 21][..]);
    assert!(matches!(refusal(fragment, tile, texels, at(0), plain), Error::Malformed(_) | Error::Unsupported(_)));
    let reserved = [7, Decoration::DescriptorSet as u32, Resource::ATTACHMENTS];
    assert_eq!(refusal(fragment, other, texels, reserved, read), unsupported("descriptor set 4294967295"));
}

#[test]
fn types_that_grow_without_words_end() {
    use spirv::Op;
    // 60 empty structures, each with twice the members of the one before, and an array of 4
    // billion of the last.
    let parts: Vec<[u32; 3]> = (0..60).map(|n| [101 + n, 100 + n, 100 + n]).collect();
    let mut types: Vec<(Op, &[u32])> = vec![(Op::TypeStruct, &[100])];
    types.extend(parts.iter().map(|part| (Op::TypeStruct, &part[..])));
    types.extend([
        (Op::TypeInt, &[50, 32, 0][..]),
        (Op::Constant, &[50, 51, u32::MAX]),
        (Op::TypeArray, &[52, 160, 51]),
        (Op::TypePointer, &[53, 7, 52]),
    ]);
    let body: [(Op, &[u32]); 4] =
        [(Op::Label, &[9]), (Op::Variable, &[53, 10, 7]), (Op::Load, &[52, 11, 10]), (Op::Return, &[])];
    let words = compute(&types, &body);
    let compiled = compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new());
    assert!(compiled.is_ok_and(|shader| shader.function.insts.is_empty()));
}

#[test]
fn calls_in_a_circle_are_refused() {
    use spirv::Op;
    let body: [(Op, &[u32]); 3] = [(Op::Label, &[9]), (Op::FunctionCall, &[2, 10, 1]), (Op::Return, &[])];
    assert_eq!(refusal(&compute(&[], &body)), Error::Malformed("calls recurse"));
}

/// Assembles a program with nested selections.
fn nested(depth: u32) -> Vec<u32> {
    use spirv::Op;
    // Each block selects into the next one; all merge blocks follow.
    let level = |n: u32| ([1000 + n], [100_000 + n, 0], [60, 1001 + n, 100_000 + n], [100_000 + n]);
    let operands: Vec<_> = (0..depth).map(level).collect();
    let mut body: Vec<(Op, &[u32])> = Vec::new();
    for (label, merge, branch, _) in &operands {
        body.extend([(Op::Label, &label[..]), (Op::SelectionMerge, &merge[..]), (Op::BranchConditional, &branch[..])]);
    }
    let last = [1000 + depth];
    body.extend([(Op::Label, &last[..]), (Op::Return, &[])]);
    for (_, _, _, merge) in operands.iter().rev() {
        body.extend([(Op::Label, &merge[..]), (Op::Return, &[])]);
    }
    let declarations: [(Op, &[u32]); 2] = [(Op::TypeBool, &[59]), (Op::ConstantTrue, &[59, 60])];
    compute(&declarations, &body)
}

/// Assembles a program whose functions call the next one, each inside a selection.
fn chained(calls: u32) -> Vec<u32> {
    use spirv::Op;
    let mut words = compute(
        &[(Op::TypeBool, &[59]), (Op::ConstantTrue, &[59, 60])],
        &[(Op::Label, &[9]), (Op::FunctionCall, &[2, 10, 1000]), (Op::Return, &[])],
    );
    for call in 0..calls {
        let (function, first) = (1000 + call, 100_000 + call * 4);
        let function_of: [(Op, &[u32]); 8] = [
            (Op::Function, &[2, function, 0, 3]),
            (Op::Label, &[first]),
            (Op::SelectionMerge, &[first + 2, 0]),
            (Op::BranchConditional, &[60, first + 1, first + 2]),
            (Op::Label, &[first + 1]),
            (Op::FunctionCall, &[2, first + 3, function + 1]),
            (Op::Branch, &[first + 2]),
            (Op::Label, &[first + 2]),
        ];
        let last = call + 1 == calls;
        let kept: Vec<_> = function_of.into_iter().filter(|(op, _)| !(last && *op == Op::FunctionCall)).collect();
        words.extend(&assemble(&kept)[5..]);
        words.extend(&assemble(&[(Op::Return, &[]), (Op::FunctionEnd, &[])])[5..]);
    }
    words
}

/// Compiles on a thread with a stack of `bytes` bytes.
fn compile_with_stack(words: Vec<u32>, bytes: usize) -> Result<vitric_ir::interface::Shader> {
    let work = move || compile(&parse(&words)?, "main", vk::ShaderStageFlags::COMPUTE, &Vec::new());
    std::thread::Builder::new().stack_size(bytes).spawn(work).unwrap().join().unwrap()
}

#[test]
fn control_flow_and_calls_nest_as_deeply_as_specified() {
    // Applications create pipelines on threads with small stacks.
    let stack = if cfg!(debug_assertions) { 4 << 20 } else { 1 << 20 };
    for words in [nested(1023), nested(3000), chained(2000)] {
        let compiled = compile_with_stack(words, stack);
        assert!(compiled.is_ok(), "{:?}", compiled.err());
    }
}

#[test]
fn switches_have_as_many_cases_as_specified() {
    use spirv::Op;
    let (cases, merge) = (16_383, 200_000);
    let mut choices = vec![61, merge];
    let mut phi = vec![50, 70, 61, 9];
    let mut blocks = Vec::new();
    for case in 0..cases {
        let label = 100_000 + case;
        choices.extend([case, label]);
        phi.extend([61, label]);
        blocks.extend(assemble(&[(Op::Label, &[label]), (Op::Branch, &[merge])])[5..].to_vec());
    }
    let declarations: [(Op, &[u32]); 2] = [(Op::TypeInt, &[50, 32, 0]), (Op::Constant, &[50, 61, 3])];
    let head: [(Op, &[u32]); 3] = [(Op::Label, &[9]), (Op::SelectionMerge, &[merge, 0]), (Op::Switch, &choices)];
    let tail: [(Op, &[u32]); 3] = [(Op::Label, &[merge]), (Op::Phi, &phi), (Op::Return, &[])];
    let mut words = compute(&declarations, &head);
    words.truncate(words.len() - 1);
    words.extend(blocks);
    words.extend(&assemble(&tail)[5..]);
    words.extend(&assemble(&[(Op::FunctionEnd, &[])])[5..]);
    let compiled = compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new());
    assert!(compiled.is_ok(), "{:?}", compiled.err());
}

#[test]
fn deeper_nesting_is_refused() {
    assert_eq!(refusal(&nested(20_000)), Error::Deep("control flow"));
    assert_eq!(refusal(&chained(20_000)), Error::Deep("control flow"));
}

#[test]
fn a_huge_workgroup_is_refused() {
    use spirv::Op;
    for size in [[u32::MAX, u32::MAX, 2], [32, 33, 1]] {
        let mode = [&[1, spirv::ExecutionMode::LocalSize as u32][..], &size].concat();
        let body: [(Op, &[u32]); 2] = [(Op::Label, &[9]), (Op::Return, &[])];
        assert!(matches!(refusal(&compute(&[(Op::ExecutionMode, &mode)], &body)), Error::Unsupported(_)));
    }
}

#[test]
fn interfaces_of_many_words_are_refused() {
    use spirv::Op;
    for (length, is_refused) in [(100, false), (5000, true)] {
        let constant = [51, 52, length];
        let all: [(Op, &[u32]); 15] = [
            (Op::EntryPoint, &[spirv::ExecutionModel::Vertex as u32, 1, u32::from_le_bytes(*b"main"), 0, 70]),
            (Op::Decorate, &[70, spirv::Decoration::Location as u32, 0]),
            (Op::TypeVoid, &[2]),
            (Op::TypeFunction, &[3, 2]),
            (Op::TypeFloat, &[50, 32]),
            (Op::TypeInt, &[51, 32, 0]),
            (Op::Constant, &constant),
            (Op::TypeArray, &[53, 50, 52]),
            (Op::TypePointer, &[54, spirv::StorageClass::Input as u32, 53]),
            (Op::Variable, &[54, 70, spirv::StorageClass::Input as u32]),
            (Op::Function, &[2, 1, 0, 3]),
            (Op::Label, &[9]),
            (Op::Load, &[53, 71, 70]),
            (Op::Return, &[]),
            (Op::FunctionEnd, &[]),
        ];
        let module = assemble(&all);
        let compiled = compile(&parse(&module).unwrap(), "main", vk::ShaderStageFlags::VERTEX, &Vec::new());
        assert_eq!(compiled.is_err(), is_refused, "{length}: {:?}", compiled.err());
    }
}

#[test]
fn unsupported_features_are_named() {
    let kernel = assemble(&[(spirv::Op::Capability, &[spirv::Capability::Kernel as u32])]);
    assert_eq!(parse(&kernel).unwrap_err().to_string(), "unsupported SPIR-V: capability Kernel");
}

#[test]
fn huge_types_and_constants_that_nothing_uses_compile() {
    use spirv::Op;
    let float = [50, 32];
    let words = compute(
        &[
            (Op::TypeFloat, &float),
            (Op::TypeInt, &[51, 32, 0]),
            (Op::Constant, &[51, 52, 1_000_000_000]),
            (Op::TypeArray, &[53, 50, 52]),
            (Op::TypeArray, &[54, 53, 52]),
            (Op::TypeStruct, &[55, 54, 53]),
            (Op::ConstantNull, &[55, 56]),
            (Op::ConstantNull, &[53, 57]),
            (Op::TypePointer, &[58, spirv::StorageClass::Private as u32, 55]),
            (Op::Variable, &[58, 59, spirv::StorageClass::Private as u32, 56]),
            (Op::TypePointer, &[60, spirv::StorageClass::StorageBuffer as u32, 55]),
            (Op::Variable, &[60, 61, spirv::StorageClass::StorageBuffer as u32]),
            (Op::TypePointer, &[62, spirv::StorageClass::StorageBuffer as u32, 50]),
            (Op::Constant, &[51, 63, 1]),
        ],
        &[
            (Op::Label, &[9]),
            (Op::AccessChain, &[62, 10, 61, 63, 52]),
            (Op::Load, &[50, 11, 10]),
            (Op::Store, &[10, 11]),
            (Op::Return, &[]),
        ],
    );
    let compiled = compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new());
    assert!(compiled.is_ok(), "{:?}", compiled.err());
}

#[test]
fn misuse_of_untyped_pointers_is_refused() {
    use spirv::Op;
    let refused = |body: &[(Op, &[u32])]| {
        let declarations: &[(Op, &[u32])] = &[
            (Op::TypeInt, &[4, 32, 0]),
            (Op::Constant, &[4, 5, 1 << 31]),
            (Op::Constant, &[4, 6, 4]),
            (Op::TypeRuntimeArray, &[7, 4]),
            (Op::TypeStruct, &[8, 7]),
            (Op::TypeUntypedPointerKHR, &[9, spirv::StorageClass::StorageBuffer as u32]),
            (Op::TypeUntypedPointerKHR, &[10, spirv::StorageClass::Workgroup as u32]),
            (Op::UntypedVariableKHR, &[9, 11, spirv::StorageClass::StorageBuffer as u32, 8]),
            (Op::UntypedVariableKHR, &[10, 12, spirv::StorageClass::Workgroup as u32, 4]),
        ];
        let body = [&[(Op::Label, &[20][..])], body, &[(Op::Return, &[])]].concat();
        refusal(&compute(declarations, &body))
    };
    let malformed = |text| Error::Malformed(text);
    // A chain into a type that is none, and into a scalar.
    assert_eq!(refused(&[(Op::UntypedAccessChainKHR, &[9, 21, 77, 11, 6])]), malformed("an id is not a type"));
    let into_scalar = refused(&[(Op::UntypedAccessChainKHR, &[9, 21, 4, 11, 6])]);
    assert_eq!(into_scalar, malformed("an access chain into a scalar"));
    // Memory without a layout, as another type.
    let packed = refused(&[(Op::UntypedAccessChainKHR, &[10, 21, 7, 12, 6])]);
    assert_eq!(packed, malformed("memory without a layout has another type"));
    // The length of a type that is no block, and of a member that is none.
    assert_eq!(refused(&[(Op::UntypedArrayLengthKHR, &[4, 21, 4, 11, 0])]), malformed("not a block"));
    let beyond = refused(&[(Op::UntypedArrayLengthKHR, &[4, 21, 8, 11, 1])]);
    assert_eq!(beyond, malformed("an index is out of range"));
    // Copies between two untyped pointers, and of too many bytes.
    assert_eq!(refused(&[(Op::CopyMemory, &[11, 11])]), malformed("a copy between two untyped pointers"));
    let large = refused(&[(Op::CopyMemorySized, &[11, 11, 5])]);
    assert_eq!(large, Error::Unsupported("a copy of a variable or large size".into()));
}

/// Data of constants are read as constants whose type is an array.
#[test]
fn constant_data_that_do_not_fit_are_refused() {
    use spirv::Op;
    // An array of three 16-bit integers, or of floats, in a variable of the function.
    let words = |element: (Op, &'static [u32]), data: &[u32]| {
        let constant = [&[6, 7], data].concat();
        let declarations = [
            (Op::TypeInt, &[4, 32, 0][..]),
            element,
            (Op::Constant, &[4, 8, 3]),
            (Op::TypeArray, &[6, 5, 8]),
            (Op::Constant, &constant),
            (Op::TypePointer, &[9, spirv::StorageClass::Function as u32, 6]),
        ];
        let variable = [9, 21, spirv::StorageClass::Function as u32, 7];
        compute(&declarations, &[(Op::Label, &[20]), (Op::Variable, &variable), (Op::Return, &[])])
    };
    let short: (Op, &[u32]) = (Op::TypeInt, &[5, 16, 0]);
    let compiled = |specialization: &crate::Specialization, data: &[u32]| {
        let module = parse(&words(short, data)).unwrap();
        compile(&module, "main", vk::ShaderStageFlags::COMPUTE, specialization).map(drop)
    };
    assert_eq!(compiled(&Vec::new(), &[0x0002_0001, 3]), Ok(()));
    assert_eq!(compiled(&Vec::new(), &[0x0002_0001, 3, 4, 5]), Ok(()));
    for data in [&[][..], &[0x0002_0001]] {
        assert_eq!(compiled(&Vec::new(), data), Err(Error::Malformed("fewer data than elements")), "{data:?}");
    }
    let error = refusal(&words((Op::TypeFloat, &[5, 32]), &[1, 2, 3]));
    assert_eq!(error, Error::Malformed("data that are not integers"));
}

/// Aborts are read as unreachable ends with operands.
#[test]
fn aborts_without_a_message_of_their_type_are_refused() {
    use spirv::Op;
    let refused = |operands: &[u32]| {
        let declarations = [
            (Op::TypeInt, &[4, 32, 0][..]),
            (Op::Constant, &[4, 5, 7]),
            (Op::TypeStruct, &[6, 4, 4]),
            (Op::Constant, &[4, 7, 100_000]),
            (Op::TypeArray, &[8, 4, 7]),
            (Op::ConstantNull, &[8, 9]),
            (Op::Decorate, &[8, spirv::Decoration::ArrayStride as u32, 4]),
        ];
        let words = compute(&declarations, &[(Op::Label, &[20]), (Op::Unreachable, operands)]);
        compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).err()
    };
    assert_eq!(refused(&[4, 5]), None);
    assert_eq!(refused(&[4]), Some(Error::Malformed("an instruction is too short")));
    assert_eq!(refused(&[4, 99]), Some(Error::Malformed("an id is used before its definition")));
    assert_eq!(refused(&[99, 5]), Some(Error::Malformed("an id is not a type")));
    assert_eq!(refused(&[6, 5]), Some(Error::Malformed("a store of another type")));
    assert_eq!(refused(&[8, 9]), Some(Error::Unsupported("a message of 400000 bytes".into())));
}
