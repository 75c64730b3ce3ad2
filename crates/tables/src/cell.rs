//! The types that a cell may have, and how each becomes Arrow.

use arrow_array::{
    ArrayRef,
    builder::{
        ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
    },
};
use std::{borrow::Cow, net::IpAddr, sync::Arc};
use wire::Direction;

/// A value that can stand in a table.
pub(crate) trait Cell {
    const KIND: &'static str;
    const MAY_BE_EMPTY: bool = false;
    type Builder: ArrayBuilder + Default;
    fn append(&self, builder: &mut Self::Builder);
    fn append_empty(builder: &mut Self::Builder);

    /// What stands for it where it could do harm; none where it cannot.
    fn harmless(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Text that a spreadsheet does not take for a formula, and a terminal not for an order: an apostrophe goes before the
/// signs that begin one (OWASP, CSV injection), and control characters are replaced. None where it is so already.
fn harmless(text: &str) -> Option<String> {
    const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];
    let is_formula = text.starts_with(FORMULA);
    if !is_formula && !text.contains(steers) {
        return None;
    }
    let apostrophe = if is_formula { "'" } else { "" };
    Some(apostrophe.to_owned() + &text.replace(steers, "\u{fffd}"))
}

/// Whether a character steers what shows it: control characters (C0, C1), line separators, and what turns the direction
/// of writing (Unicode UAX #9 §2).
pub(crate) fn steers(sign: char) -> bool {
    sign.is_control()
        || matches!(sign, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub(crate) fn array<'a, C: Cell + 'a>(cells: impl Iterator<Item = &'a C>) -> ArrayRef {
    let mut builder = C::Builder::default();
    cells.for_each(|cell| cell.append(&mut builder));
    Arc::new(builder.finish())
}

macro_rules! plain {
    ($($kind:ty: $name:literal, $builder:ty;)*) => {$(
        impl Cell for $kind {
            const KIND: &'static str = $name;
            type Builder = $builder;
            fn append(&self, builder: &mut Self::Builder) {
                builder.append_value((*self).into());
            }
            fn append_empty(builder: &mut Self::Builder) {
                builder.append_null();
            }
        }
    )*};
}
plain! {
    bool: "bool", BooleanBuilder;
    u8: "u32", UInt32Builder;
    u16: "u32", UInt32Builder;
    u32: "u32", UInt32Builder;
    u64: "u64", UInt64Builder;
    i64: "i64", Int64Builder;
    f64: "f64", Float64Builder;
}

macro_rules! text {
    ($($kind:ty: |$cell:ident| $text:expr $(, $harmless:expr)?;)*) => {$(
        impl Cell for $kind {
            const KIND: &'static str = "text";
            type Builder = StringBuilder;
            $(fn harmless(&self) -> Option<Self> {
                harmless(self).map($harmless)
            })?
            fn append(&self, builder: &mut Self::Builder) {
                let $cell = self;
                builder.append_value($text);
            }
            fn append_empty(builder: &mut Self::Builder) {
                builder.append_null();
            }
        }
    )*};
}
text! {
    String: |cell| cell, |text| text;
    &'static str: |cell| cell;
    Arc<str>: |cell| cell, Arc::from;
    Cow<'static, str>: |cell| cell, Cow::Owned;
    IpAddr: |cell| cell.to_string();
    Direction: |cell| cell.as_str();
}

impl<C: Cell> Cell for Option<C> {
    const KIND: &'static str = C::KIND;
    const MAY_BE_EMPTY: bool = true;
    type Builder = C::Builder;
    fn append(&self, builder: &mut Self::Builder) {
        match self {
            Some(cell) => cell.append(builder),
            None => C::append_empty(builder),
        }
    }
    fn append_empty(builder: &mut Self::Builder) {
        C::append_empty(builder);
    }
    fn harmless(&self) -> Option<Self> {
        self.as_ref().and_then(C::harmless).map(Some)
    }
}
