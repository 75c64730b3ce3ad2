/// Declares parameters: a struct whose documentation is the reference's. One without a default must be given. With a
/// name and a description before the struct it describes an element or a queue as a whole.
#[macro_export]
macro_rules! parameters {
    (
        $(#[doc = $about:literal])*
        $name:literal
        struct $type:ident { $($fields:tt)* }
    ) => {
        $crate::parameters! {
            $(#[doc = $about])*
            struct $type { $($fields)* }
        }

        impl $crate::Described for $type {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = concat!($($about, "\n",)*).trim_ascii();
        }
    };
    ($(#[doc = $about:literal])* struct $type:ident $fields:tt) => {
        $crate::parameters! { @struct pub(crate), $(#[doc = $about])* $type $fields }
    };
    ($(#[doc = $about:literal])* pub struct $type:ident $fields:tt) => {
        $crate::parameters! { @struct pub, $(#[doc = $about])* $type $fields }
    };
    (
        @struct $visible:vis,
        $(#[doc = $about:literal])*
        $type:ident {
            $($(#[doc = $doc:literal])* $field:ident: $kind:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug)]
        $visible struct $type {
            $($(#[doc = $doc])* pub $field: $kind,)*
        }

        impl $crate::Parameters for $type {
            fn parameters() -> Vec<$crate::Parameter> {
                use $crate::Kind;
                $(let $field: Option<$kind> = $crate::parameters!(@default $($default)?);)*
                vec![$($crate::Parameter {
                    name: stringify!($field),
                    kind: <$kind>::KIND,
                    required: $field.is_none(),
                    default: $field.map_or($crate::Value::Null, |default| default.value()),
                    doc: concat!($($doc, "\n",)*).trim_ascii(),
                },)*]
            }

            fn read(table: &$crate::Table, own: Option<&str>) -> Result<Self, $crate::Fault> {
                $crate::known(table, own, &[$(stringify!($field)),*])?;
                Ok($type {
                    $($field: $crate::read(
                        table,
                        stringify!($field),
                        $crate::parameters!(@default $($default)?),
                    )?,)*
                })
            }
        }
    };
    (@default) => {
        None
    };
    (@default $default:expr) => {
        Some($default)
    };
}
