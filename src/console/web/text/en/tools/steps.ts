/** The steps of the set-up say what they cost, and why they failed, in the language of the sources. */
export const STEPS: Readonly<Record<string, string>> = {};
