//! The attribute `#[entry(vkName)]`, which makes a typed function a Vulkan entry point.
//!
//! The function is unchanged, and other code may call it. The attribute adds a stub, which is an
//! `extern "system"` function with Vulkan's name and signature. The stub creates the token of the
//! call and converts each parameter from its C type. It converts the result to its C type, and
//! catches panics. The types and their contracts are in `call.rs` of `vitric-icd`.
//!
//! - A parameter whose type has a lifetime (`&DeviceObject`, `In<'_, T>`, `Out<'_, T>`,
//!   `Option<&T>`) is converted. Its C type is `Typed::Raw` of the type. Other types are
//!   unchanged.
//! - A parameter of type `Call<'_>` is the token, and has no C parameter.
//! - A parameter with the name `_` only exists in C.
//! - `#[len]` marks the count of the arrays that follow it (`Array`, `ArrayMut`, `Listing`,
//!   `Bytes`, `BytesMut`). It only exists in C.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{FnArg, Ident, ItemFn, Pat, PatType, ReturnType, Type, parse_macro_input};

/// Types that are built from a pointer and the count before it.
const COUNTED: [&str; 5] = ["Array", "ArrayMut", "Listing", "Bytes", "BytesMut"];

/// Makes a typed function a Vulkan entry point. The argument is Vulkan's name of the command.
#[proc_macro_attribute]
pub fn entry(name: TokenStream, item: TokenStream) -> TokenStream {
    let (name, function) = (parse_macro_input!(name as Ident), parse_macro_input!(item as ItemFn));
    expand(&name, function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A parameter of the stub, and the argument for the typed function.
struct Parameter {
    /// The parameter in C's signature.
    declaration: Option<Tokens>,
    /// Check before any parameter is converted.
    prepare: Option<Tokens>,
    /// Conversion of the parameter.
    translate: Option<Tokens>,
    /// Argument of the typed function.
    argument: Option<Tokens>,
    /// Dispatchable handle, to which a panic is reported.
    target: Option<Tokens>,
}

/// Types of the parameters of C's signature that are dispatchable handles.
const DISPATCHABLE: [&str; 8] =
    ["Instance", "PhysicalDevice", "Device", "Queue", "CommandBuffer", "DeviceObject", "CommandObject", "Recorder"];

/// Returns the typed function, without the parameters that only exist in C, and its stub.
fn expand(name: &Ident, mut function: ItemFn) -> syn::Result<Tokens> {
    let mut parameters = Vec::new();
    let mut count = None;
    for (number, input) in function.sig.inputs.iter().enumerate() {
        let FnArg::Typed(input) = input else {
            return Err(syn::Error::new_spanned(input, "an entry point has no receiver"));
        };
        parameters.push(parameter(number, input, &mut count)?);
    }
    let inputs = std::mem::take(&mut function.sig.inputs);
    function.sig.inputs =
        inputs.into_iter().zip(&parameters).filter(|(_, p)| p.argument.is_some()).map(|(i, _)| i).collect();
    let typed = &function.sig.ident;
    let result = match &function.sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, result) => quote!(#result),
    };
    let declarations = parameters.iter().filter_map(|parameter| parameter.declaration.as_ref());
    let prepares = parameters.iter().filter_map(|parameter| parameter.prepare.as_ref());
    let translations = parameters.iter().filter_map(|parameter| parameter.translate.as_ref());
    let arguments = parameters.iter().filter_map(|parameter| parameter.argument.as_ref());
    let target = parameters.iter().find_map(|parameter| parameter.target.as_ref()).cloned().unwrap_or(quote!(()));
    let documentation = format!("The C side of [`{typed}`].\n\n# Safety\nAs Vulkan's valid usage of `{name}` says.");
    Ok(quote! {
        #function

        #[doc = #documentation]
        #[allow(non_snake_case, reason = "Vulkan's name")]
        pub unsafe extern "system" fn #name(#(#declarations),*) -> <#result as crate::call::Answer>::Raw {
            #[allow(clippy::undocumented_unsafe_blocks, reason = "the caller keeps to valid usage, which is the contract")]
            unsafe {
                crate::call::answer::<#result>(stringify!(#name), #target, move |call| {
                    let _ = call;
                    #(#prepares)*
                    #(#translations)*
                    Ok(#typed(#(#arguments),*))
                })
            }
        }
    })
}

/// Returns the description of parameter `number`. `count` is the last count parameter.
fn parameter(number: usize, input: &PatType, count: &mut Option<Ident>) -> syn::Result<Parameter> {
    let ty = &input.ty;
    let unnamed = quote::format_ident!("unnamed_{number}");
    let name = match &*input.pat {
        Pat::Ident(pattern) => pattern.ident.clone(),
        Pat::Wild(_) => unnamed.clone(),
        other => return Err(syn::Error::new_spanned(other, "a parameter of an entry point is a name or `_`")),
    };
    let last = last_segment(ty);
    let is_in = |names: &[&str]| last.as_deref().is_some_and(|last| names.contains(&last));
    let target = (is_in(&DISPATCHABLE) && name != unnamed).then(|| quote!(#name));
    let only_c =
        Parameter { declaration: Some(quote!(#name: #ty)), prepare: None, translate: None, argument: None, target };
    if input.attrs.iter().any(|attribute| attribute.path().is_ident("len")) {
        *count = Some(name);
        return Ok(only_c);
    }
    if name == unnamed {
        return Ok(Parameter { declaration: Some(quote!(_: #ty)), ..only_c });
    }
    if is_in(&["Call"]) {
        return Ok(Parameter { declaration: None, argument: Some(quote!(call)), ..only_c });
    }
    if !names_a_lifetime(ty) {
        return Ok(Parameter { argument: Some(quote!(#name)), ..only_c });
    }
    let declaration = Some(quote!(#name: <#ty as crate::call::Typed>::Raw));
    let argument = Some(quote!(#name));
    if is_in(&COUNTED) {
        let count = count.as_ref().ok_or_else(|| syn::Error::new_spanned(ty, "no `#[len]` before this array"))?;
        let translate = Some(quote!(let #name = <#ty as crate::call::Counted<_>>::translate(#name, #count, call);));
        return Ok(Parameter { declaration, translate, argument, ..only_c });
    }
    let prepare = Some(quote!(<#ty as crate::call::Param>::prepare(#name, call)?;));
    let translate = Some(quote!(let #name = <#ty as crate::call::Param>::translate(#name, call)?;));
    Ok(Parameter { declaration, prepare, translate, argument, ..only_c })
}

/// Returns the last segment of a type's path, or of the path of the type behind a reference.
fn last_segment(ty: &Type) -> Option<String> {
    match ty {
        Type::Reference(reference) => last_segment(&reference.elem),
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// Returns true if a type other than a pointer has a lifetime, possibly an elided one.
fn names_a_lifetime(ty: &Type) -> bool {
    match ty {
        Type::Reference(_) => true,
        Type::Path(_) => quote!(#ty).to_string().contains(['\'', '&']),
        _ => false,
    }
}
