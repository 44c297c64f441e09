import { defaultWorkers } from "../../../config/http-workers.ts";
import figures from "../../../protocol/network/network-figures.json" with { type: "json" };
import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import { splitEncoded } from "../messages/split.ts";

/** Row counts of a network, or of a sample of it, by kind. */
export interface NetworkSample {
  readonly fids: number;
  readonly onChainEvents: number;
  readonly casts: number;
  /** Bytes of the texts of all casts. */
  readonly textBytes: number;
  readonly reactions: number;
  readonly links: number;
  readonly userData: number;
  readonly otherMessages: number;
  /** Bytes that messages in an unusual encoding need besides their columns. */
  readonly oddBytes: number;
}

export interface SizeEstimate {
  readonly messages: number;
  readonly fids: number;
  /** Size of the filled index. */
  readonly bytes: number;
  /** Free space needed while filling, including the log and the sorts. */
  readonly bytesWhileFilling: number;
  readonly seconds: number;
  /** Peak resident memory, which is reached while filling. */
  readonly memoryBytes: number;
}

/**
 * Bytes of a row with its indexes and everything derived from it, measured on a network of 200,000 messages
 * (`bun run bench density`). `textByte` counts each byte once in the row and twice in the search index.
 */
const BYTES = {
  fid: 530,
  onChainEvent: 167,
  cast: 290,
  textByte: 3.05,
  reaction: 192,
  link: 160,
  userData: 165,
  otherMessage: 230,
} as const;
/** Bytes of an index without rows: a page for each table and index. */
const EMPTY_BYTES = 450_000;
/**
 * Microseconds of one core per message, from arrival to its row in the index: decoding, hashing and verification of the
 * signature, and the writer's part, on up to four cores. 87 were measured (an import of 309,000 messages); the rest is for
 * the build, which uses one core.
 */
const { messageMicros, fidMicros, spaceShare } = figures.filling;
/** Microseconds per fid for the calls that read it from an upstream. A file needs none. */
const FID_MICROS = { upstream: fidMicros, file: 0 } as const;
const MAX_CORES = 4;
/** Peak resident memory while an index was filled with 300 thousand and with 1 million messages. */
const SMALL_NETWORK_MESSAGES = 300_000;
const MEMORY_BYTES = { small: 410_000_000, large: 675_000_000 } as const;
/** Memory of each HTTP worker after the first. */
const WORKER_BYTES = 50_000_000;

/**
 * Estimates what filling an empty index with a network takes. The size is within a tenth for messages like those of the
 * public network; the time is for an otherwise idle machine whose disk is not the limit.
 */
export function estimateSize(
  network: NetworkSample,
  { cores, from }: { readonly cores: number; readonly from: keyof typeof FID_MICROS },
): SizeEstimate {
  const { fids, onChainEvents, casts, textBytes, reactions, links, userData, otherMessages, oddBytes } =
    network;
  const messages = casts + reactions + links + userData + otherMessages;
  const bytes =
    EMPTY_BYTES +
    fids * BYTES.fid +
    onChainEvents * BYTES.onChainEvent +
    casts * BYTES.cast +
    textBytes * BYTES.textByte +
    reactions * BYTES.reaction +
    links * BYTES.link +
    userData * BYTES.userData +
    otherMessages * BYTES.otherMessage +
    oddBytes;
  const micros = messages * messageMicros + fids * FID_MICROS[from];
  return {
    messages: Math.round(messages),
    fids: Math.round(fids),
    bytes: Math.round(bytes),
    bytesWhileFilling: Math.round(bytes * spaceShare),
    seconds: micros / 1e6 / Math.min(Math.max(cores, 1), MAX_CORES),
    memoryBytes:
      (messages <= SMALL_NETWORK_MESSAGES ? MEMORY_BYTES.small : MEMORY_BYTES.large) +
      (defaultWorkers(cores) - 1) * WORKER_BYTES,
  };
}

/** Counts the rows of a sample. */
export class SampleCounter {
  readonly #counts = {
    fids: 0,
    onChainEvents: 0,
    casts: 0,
    textBytes: 0,
    reactions: 0,
    links: 0,
    userData: 0,
    otherMessages: 0,
    oddBytes: 0,
  };

  readonly #network: FarcasterNetwork;

  constructor(network: FarcasterNetwork) {
    this.#network = network;
  }

  addFid(): void {
    this.#counts.fids++;
  }

  addOnChainEvent(): void {
    this.#counts.onChainEvents++;
  }

  /**
   * Counts a message in wire form.
   *
   * @throws Error when the bytes are not a message.
   */
  addMessage(bytes: Uint8Array): void {
    const counts = this.#counts;
    const { columns, envelope } = splitEncoded(bytes, this.#network);
    switch (columns.table) {
      case "casts":
        counts.casts++;
        counts.textBytes += Buffer.byteLength(columns.text);
        break;
      case "reactions":
        counts.reactions++;
        break;
      case "links":
        counts.links++;
        break;
      case "user_data":
        counts.userData++;
        break;
      case "messages":
        counts.otherMessages++;
        return;
    }
    counts.oddBytes += envelope.data?.length ?? 0;
  }

  get messages(): number {
    const { casts, reactions, links, userData, otherMessages } = this.#counts;
    return casts + reactions + links + userData + otherMessages;
  }

  /** Returns the counts, each multiplied by `factor`. */
  scaled(factor: number): NetworkSample {
    const entries = Object.entries(this.#counts).map(([name, count]) => [name, count * factor]);
    return Object.fromEntries(entries) as unknown as NetworkSample;
  }
}
