//! Identifiers. Each is an opaque string made by one side only; none tells anything but equality.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The identifier as it travels.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A saved or temporary connection; made by the server.
    ConnectionId
);
id!(
    /// One execution of one statement; made by the server from 128 random bits.
    RunId
);
id!(
    /// One console, named by the client: runs with the same one share a database session.
    SessionId
);
id!(
    /// One open interface (a browser window), named by the client: the lease of its runs lives as long as its event stream.
    WindowId
);
