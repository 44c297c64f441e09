import { bulkPhaseOf } from "../../db/index/bulk/bulk-state.ts";
import { firstCastIdAt } from "../../db/index/cast-id.ts";
import {
  encodeTopic,
  newestSnapshot,
  type RankedRef,
  type TopicRanking,
} from "../../db/index/counts/rankings.ts";
import { type ScoreMode, scoresOf } from "../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";

const HOUR_MS = 3_600_000;
const DAY_SECS = 86_400;
/** Number of earlier days with which today is compared. */
const DAYS = 7;
export const MIN_AUTHORS = 10;
/** Fewer authors of a term in a day count as none. */
const MIN_DAY_AUTHORS = 5;
export const MAX_TOPICS = 50;
const SHOWN_AUTHORS = 5;
/** Number of terms whose texts are looked up again. */
const MAX_CANDIDATES = 400;
/** A word is dropped as a topic if a pair that contains it has at least this share of its authors. */
const SHARE_OF_PAIR = 0.6;
const ROWS_PER_READ = 5_000;
/** Each use takes 8 bytes. */
const MAX_USES = 12_000_000;

const textsFrom = statement<
  { id: number; fid: number; text: string },
  [below: number, above: number, limit: number]
>("topics.texts", "SELECT id, fid, text FROM casts WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT ?");

/** Number of authors that used a term, and the sum of their weights. */
interface Use {
  readonly authors: number;
  readonly weight: number;
}

export interface TopicDeps {
  readonly db: IndexDatabase;
  /** Undefined while scores are off; each author then counts the same. */
  readonly scores: { readonly mode: ScoreMode } | undefined;
  /** Gives other work of the thread a turn. */
  readonly turn: () => Promise<void>;
  /** Maximum number of uses of terms that are held at once. In a busier window the oldest casts are left out. */
  readonly maxUses?: number;
}

/** Finds terms that more people write about than on the preceding days. */
export type TopicFinder = ReturnType<typeof createTopicFinder>;

export function createTopicFinder({ db, scores, turn, maxUses = MAX_USES }: TopicDeps) {
  /** The uses on earlier days, by the day's number. */
  const days = new Map<number, ReadonlyMap<number, number>>();

  /** The casts of a window, newest first. */
  async function* castsWithin(from: number, until: number) {
    const above = firstCastIdAt(from);
    for (let below = firstCastIdAt(until); ; ) {
      const rows = db.all(textsFrom, below, above, ROWS_PER_READ);
      yield* rows;
      await turn();
      const last = rows.at(-1);
      if (!last || rows.length < ROWS_PER_READ) return;
      below = last.id;
    }
  }

  /** Counts the distinct authors of each term in a window, by the term's hash. */
  async function usesWithin(from: number, until: number): Promise<Map<number, Use>> {
    let pairs = new BigUint64Array(1 << 16);
    let length = 0;
    for await (const { fid, text } of castsWithin(from, until)) {
      if (length >= maxUses) break;
      for (const term of topicTerms(text)) {
        if (length === pairs.length) {
          const larger = new BigUint64Array(pairs.length * 2);
          larger.set(pairs);
          pairs = larger;
        }
        pairs[length++] = (BigInt(hashOf(term)) << 32n) | BigInt(fid & 0xffffffff);
      }
    }
    const sorted = pairs.subarray(0, length).sort();
    const fids = new Set<number>();
    for (const pair of sorted) fids.add(Number(pair & 0xffffffffn));
    const weights = weightsOf([...fids]);
    const uses = new Map<number, Use>();
    let last: bigint | undefined;
    let term = -1;
    let authors = 0;
    let weight = 0;
    const note = () => {
      if (authors >= MIN_DAY_AUTHORS) uses.set(term, { authors, weight });
    };
    for (const pair of sorted) {
      if (pair === last) continue;
      last = pair;
      const hash = Number(pair >> 32n);
      if (hash !== term) {
        note();
        [term, authors, weight] = [hash, 0, 0];
      }
      authors += 1;
      weight += weights(Number(pair & 0xffffffffn));
    }
    note();
    return uses;
  }

  function weightsOf(fids: readonly number[]): (fid: number) => number {
    if (!scores) return () => 1;
    const found = new Map<number, number>();
    for (let at = 0; at < fids.length; at += ROWS_PER_READ)
      for (const [fid, score] of scoresOf(db, scores.mode, fids.slice(at, at + ROWS_PER_READ)))
        found.set(fid, Math.min(1, score / 0.5));
    return (fid) => found.get(fid) ?? 0;
  }

  /** Returns the mean uses per day, over the complete days before the window. */
  async function usualUses(from: number): Promise<(hash: number) => number> {
    const first = Math.floor(from / DAY_SECS) - DAYS;
    for (const day of days.keys()) if (day < first || day >= first + DAYS) days.delete(day);
    for (let day = first; day < first + DAYS; day++) {
      if (days.has(day)) continue;
      const uses = await usesWithin(day * DAY_SECS, (day + 1) * DAY_SECS);
      days.set(day, new Map([...uses].map(([hash, { weight }]) => [hash, weight])));
    }
    return (hash) => days.values().reduce((sum, uses) => sum + (uses.get(hash) ?? 0), 0) / DAYS;
  }

  return {
    /**
     * Returns the topics of the 24 hours before a full hour; undefined if they are already stored or the index is being
     * built.
     */
    async topicsAt(nowMs: number): Promise<TopicRanking | undefined> {
      if (bulkPhaseOf(db) !== undefined) return undefined;
      const snapshot = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
      if (newestSnapshot(db, "topics") === snapshot) return undefined;
      const until = snapshot / 1000;
      const from = until - DAY_SECS;
      const usual = await usualUses(from);
      const uses = await usesWithin(from, until);
      const candidates = new Map(
        [...uses]
          .filter(([, { authors, weight }]) => authors >= MIN_AUTHORS && weight > 1)
          .map(([hash, { weight }]) => [hash, ((weight + 1) / (usual(hash) + 3)) * Math.log(weight)] as const)
          .sort(([, a], [, b]) => b - a)
          .slice(0, MAX_CANDIDATES),
      );
      const terms = new Map<string, Set<number>>();
      for await (const { fid, text } of castsWithin(from, until))
        for (const term of topicTerms(text)) {
          if (!candidates.has(hashOf(term))) continue;
          const authors = terms.get(term) ?? new Set();
          terms.set(term, authors.add(fid));
        }
      const kept = [...terms].filter(([term, authors]) => {
        if (authors.size < MIN_AUTHORS) return false;
        return ![...terms].some(
          ([pair, both]) =>
            pair !== term && pair.split(" ").includes(term) && both.size >= authors.size * SHARE_OF_PAIR,
        );
      });
      const weights = weightsOf([...new Set(kept.flatMap(([, authors]) => [...authors]))]);
      const topics: RankedRef[] = kept
        .map(([term, authors]) => ({ term, authors, score: candidates.get(hashOf(term)) ?? 0 }))
        .sort((a, b) => b.score - a.score || (a.term < b.term ? -1 : 1))
        .slice(0, MAX_TOPICS)
        .map(({ term, authors, score }) => {
          const shown = [...authors].sort((a, b) => weights(b) - weights(a) || a - b).slice(0, SHOWN_AUTHORS);
          return { ref: encodeTopic({ name: term, authors: shown }), score };
        });
      return { snapshot, topics };
    },
  };
}

function hashOf(term: string): number {
  return Bun.hash.xxHash32(term);
}

const URL = /\bhttps?:\/\/\S+|\bwww\.\S+/gi;
const MENTION = /@[\p{L}\p{N}._-]+/gu;
const WORD = /\p{L}[\p{L}\p{M}]{2,29}(?![\p{L}\p{M}])/gu;
/** Matches what may separate the two words of a pair. */
const BETWEEN = /^[\s'’-]$/u;
const MAX_CHARS = 1_024;

/** Words without topical meaning, in the languages most written. */
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

/** Returns the words and the pairs of adjacent words that a text could be about, each once, in lower case. */
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
