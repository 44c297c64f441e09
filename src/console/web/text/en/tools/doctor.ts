/** Translated findings and advice of the set-up's checks, with `{}` for each value. Empty in English, because the node has the texts. */
export const DOCTOR: Readonly<Record<string, string>> = {};
