//! What controllers, schedulers and path managers have in common: a name, a line about each, what can be set of it.

use parameters::{Error, Fault, Parameters, Table};

/// Names every policy of a kind once. One of which something can be set declares it (`parameters!`) and says `with` what
/// its `new` takes it; of the others nothing can be set. Where a kind has settings of its own (`of`), `new` takes them first.
macro_rules! policies {
    (dyn $trait:ident, $what:literal: $($policies:tt)*) => {
        crate::policy::policies! { @list $($policies)* }

        /// The one of that name, with what is set of it, for a new connection.
        ///
        /// # Errors
        /// None has that name, or a parameter is wrong.
        pub fn build(name: &str, parameters: &parameters::Table) -> Result<Box<dyn $trait>, parameters::Error> {
            let kind = crate::policy::Kind { what: $what, names: NAMES };
            crate::policy::policies! { @build kind, name, parameters, (), $($policies)* }
        }
    };
    (dyn $trait:ident of $settings:ident, $what:literal: $($policies:tt)*) => {
        crate::policy::policies! { @list $($policies)* }

        /// The one that the settings name, for a new connection.
        ///
        /// # Errors
        /// None has that name, or a parameter is wrong.
        pub fn build(settings: &$settings) -> Result<Box<dyn $trait>, parameters::Error> {
            let kind = crate::policy::Kind { what: $what, names: NAMES };
            let $settings { name, parameters, .. } = settings;
            crate::policy::policies! { @build kind, name.as_str(), parameters, (settings), $($policies)* }
        }
    };
    (@list $($name:literal = $file:ident :: $policy:ident $(with $parameters:ident)?),* $(,)?) => {
        $(mod $file; pub use $file::$policy;)*

        /// The name of every one.
        pub const NAMES: &[&str] = &[$($name),*];

        /// Every one: what it is, in a line, and what can be set of it.
        pub fn descriptions() -> Vec<parameters::Description> {
            vec![$({
                type Parameters = crate::policy::policies!(@parameters $($file::$parameters)?);
                parameters::Description {
                    name: $name,
                    summary: $file::SUMMARY,
                    parameters: <Parameters as parameters::Parameters>::parameters(),
                }
            }),*]
        }
    };
    (
        @build $kind:ident, $chosen:expr, $table:ident, $settings:tt,
        $($name:literal = $file:ident :: $policy:ident $(with $parameters:ident)?),* $(,)?
    ) => {
        match $chosen {
            $($name => $kind
                .read($name, $table)
                .and_then(|parameters| crate::policy::policies!(
                    @new $kind, $name, $policy, $settings, parameters $(, $file::$parameters)?
                ))
                .map(|policy| Box::new(policy) as Box<_>),)*
            name => Err($kind.unknown(name)),
        }
    };
    (@new $kind:ident, $name:literal, $policy:ident, (), $read:ident) => {{
        let () = $read;
        Ok($policy::default())
    }};
    (@new $kind:ident, $name:literal, $policy:ident, ($settings:ident), $read:ident) => {{
        let () = $read;
        Ok($policy::new($settings))
    }};
    (@new $kind:ident, $name:literal, $policy:ident, ($($settings:ident)?), $read:ident, $file:ident :: $parameters:ident) => {{
        let read: $file::$parameters = $read;
        $policy::new($($settings,)? read).map_err(|fault| $kind.wrong($name, fault))
    }};
    (@parameters) => { () };
    (@parameters $file:ident :: $parameters:ident) => { $file::$parameters };
}
pub(crate) use policies;

/// Controllers, schedulers or path managers.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// What one is called.
    pub what: &'static str,
    pub names: &'static [&'static str],
}

impl Kind {
    pub fn read<P: Parameters>(self, name: &str, table: &Table) -> Result<P, Error> {
        P::read(table, None).map_err(|fault| self.wrong(name, fault))
    }

    pub fn wrong(self, name: &str, fault: Fault) -> Error {
        Error::Parameter { what: self.what, name: name.into(), fault }
    }

    pub fn unknown(self, name: &str) -> Error {
        Error::Unknown { what: self.what, name: name.into(), known: self.names.join(", ") }
    }
}
