//! Resolving a reference against a base URI (RFC 3986, section 5.2).

struct UriReference<'t> {
    scheme: Option<&'t str>,
    authority: Option<&'t str>,
    path: &'t str,
    query: Option<&'t str>,
    fragment: Option<&'t str>,
}

fn split(text: &str) -> UriReference<'_> {
    let (rest, fragment) = match text.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (text, None),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|next| next.is_ascii_alphanumeric() || "+-.".contains(next))
    };
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, rest),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
        None => (None, rest),
    };
    UriReference { scheme, authority, path, query, fragment }
}

/// The absolute form of `reference` where `base` is in force. An empty base leaves it as it is.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let (base, mut target) = (split(base), split(reference));
    let mut path = remove_dots(target.path);
    if target.scheme.is_none() {
        target.scheme = base.scheme;
        if target.authority.is_none() {
            target.authority = base.authority;
            if target.path.is_empty() {
                path = base.path.to_owned();
                target.query = target.query.or(base.query);
            } else if !target.path.starts_with('/') {
                let folder = base.path.rfind('/').map_or("", |slash| &base.path[..=slash]);
                let folder = if folder.is_empty() && base.authority.is_some() { "/" } else { folder };
                path = remove_dots(&format!("{folder}{}", target.path));
            }
        }
    }
    let mut result = String::new();
    if let Some(scheme) = target.scheme {
        result.push_str(scheme);
        result.push(':');
    }
    if let Some(authority) = target.authority {
        result.push_str("//");
        result.push_str(authority);
    }
    result.push_str(&path);
    for (mark, part) in [('?', target.query), ('#', target.fragment)] {
        if let Some(part) = part {
            result.push(mark);
            result.push_str(part);
        }
    }
    result
}

fn remove_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_in_dots = false;
    for segment in path.split('/') {
        ends_in_dots = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                if kept.len() > usize::from(path.starts_with('/')) {
                    kept.pop();
                }
            }
            _ => kept.push(segment),
        }
    }
    if ends_in_dots {
        kept.push("");
    }
    kept.join("/")
}
