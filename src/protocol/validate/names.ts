const LABEL = /^[a-z0-9][a-z0-9-]{0,15}$/;
const ENS_SUFFIX = ".eth";
const BASENAME_SUFFIX = ".base.eth";

/** Reports whether a name is a Farcaster name: 1 to 16 of a-z, 0-9 and `-`, where the first character is not `-`. */
export function isFname(name: string): boolean {
  return LABEL.test(name);
}

/** Reports whether a name is an ENS name of two labels, the first in the form of an fname, so at most 20 characters. */
export function isEnsName(name: string): boolean {
  return name.endsWith(ENS_SUFFIX) && LABEL.test(name.slice(0, -ENS_SUFFIX.length));
}

/** Reports whether a name is a basename: a label in the form of an fname under `base.eth`, so at most 25 characters. */
export function isBasename(name: string): boolean {
  return name.endsWith(BASENAME_SUFFIX) && LABEL.test(name.slice(0, -BASENAME_SUFFIX.length));
}

/** Reports whether a text has the form of a username, of any of the three kinds. */
export function isUsername(name: string): boolean {
  return isFname(name) || isEnsName(name) || isBasename(name);
}
