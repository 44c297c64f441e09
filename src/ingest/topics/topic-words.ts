const URL = /\bhttps?:\/\/\S+|\bwww\.\S+/gi;
const MENTION = /@[\p{L}\p{N}._-]+/gu;
const WORD = /\p{L}[\p{L}\p{M}]{2,29}(?![\p{L}\p{M}])/gu;
/** What separates two words of a pair. */
const BETWEEN = /^[\s'’-]$/u;
const MAX_CHARS = 1_024;

/** Words that say nothing of a topic, of the languages that are written most. */
const STOPPED = new Set(
  `about above after again all also always and any are aren around back because been before being below best better between
  both but came can cannot come could couldn day days did didn does doesn doing don done down during each even ever every few first for
  from get gets getting give goes going gone good got great had happy has hasn have having hello her here hers him his how into
  isn its itself just keep know last let like little long look lot love made make makes man many may maybe me might more morning most
  much must need never new nice night nobody not nothing now off often one only other our out over own part people please
  post really right said same say says see seen she should since some someone something soon still such sure take than thank
  thanks that the their them then there these they thing things think this those though three through time times today
  together tomorrow too try two under until use used very want wants was wasn way week well went were weren what when where which while who whole
  why will with without won work would year years yes yesterday yet you your yours
  que los las por con para una uno del como más pero sus sin sobre este esta esto son está muy todo todos hay bien hoy también porque cuando
  não uma dos das com para mais como mas foi são tem isso esse essa você muito hoje bom dia
  les des une est pas pour que qui dans sur avec plus tout mais nous vous son ses cette aujourd hui bien très
  der die das und ist nicht ein eine mit von auf für den dem sich auch wie aber noch nur bei mehr heute
  che non per una sono con del della anche come più questo
  это как что для все его она они мне так уже`.split(/\s+/),
);

/** The words and the pairs of adjacent words that a text could be about, each once, in lower case. */
export function topicTerms(text: string): Set<string> {
  const plain = text.slice(0, MAX_CHARS).replaceAll(URL, " | ").replaceAll(MENTION, " | ").normalize("NFC");
  const terms = new Set<string>();
  let before: { readonly word: string; readonly end: number } | undefined;
  for (const match of plain.matchAll(WORD)) {
    const word = match[0].toLowerCase();
    const isWhole = match.index === 0 || !/[\p{L}\p{M}]/u.test(plain[match.index - 1] ?? "");
    if (!isWhole || STOPPED.has(word)) {
      before = undefined;
      continue;
    }
    terms.add(word);
    if (before && before.word !== word && BETWEEN.test(plain.slice(before.end, match.index)))
      terms.add(`${before.word} ${word}`);
    before = { word, end: match.index + match[0].length };
  }
  return terms;
}
