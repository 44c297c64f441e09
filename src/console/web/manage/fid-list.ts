/** Fids as an owner typed or pasted them: separated by spaces, commas or lines, with or without `!` or `fid`. */
export interface FidList {
  /** Without repetitions, in the order given. */
  readonly fids: readonly number[];
  /** The first word that is no fid. */
  readonly bad: string | undefined;
}

const SEPARATORS = /[\s,;]+/;
const FID = /^!?([1-9]\d{0,15})$/;

export function readFidList(text: string): FidList {
  const fids = new Set<number>();
  let bad: string | undefined;
  for (const word of text.split(SEPARATORS)) {
    if (word === "") continue;
    const fid = Number(FID.exec(word)?.[1] ?? Number.NaN);
    if (Number.isSafeInteger(fid)) fids.add(fid);
    else bad ??= word.slice(0, 20);
  }
  return { fids: [...fids], bad };
}

/** What is wrong with a list of fids, as a sentence. */
export function fidListProblem({ bad }: FidList): string | undefined {
  return bad === undefined ? undefined : `“${bad}” is no fid: fids are numbers such as 3.`;
}
