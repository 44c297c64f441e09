/** The node's texts about incidents and what to do, in another language, with `{}` for each value. Empty in English. */
export const CHECKS: Readonly<Record<string, string>> = {};
