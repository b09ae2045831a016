//! Drive-managed shingled recording: a media cache in front of bands that can only be written whole.
