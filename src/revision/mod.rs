//! revision
