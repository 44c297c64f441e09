import type { FarcasterNetwork, MessageData, MessageType } from "../protocol/wire/generated/message.ts";
import { type Random, seededRandom } from "./random.ts";

/**
 * The on-chain holdings of the demo network's users. Dates are fixed, because responses such as that of `GET /user?fid=3` contain them
 * and must be the same every day. Only recent times, defined elsewhere, are counted back from the anchor.
 */

/** The demo network's people have the fids from 1 to this one. */
export const DEMO_FID_COUNT = 200;

/** Fids of the two client apps that request signer keys. They are users of the network, too. */
export const MAIN_CLIENT_FID = 1;
export const SECOND_CLIENT_FID = 2;

/** Fixed dates, in unix seconds. No anchor may be before the last of them. */
const FIRST_REGISTRATION_SECS = Date.UTC(2024, 0, 8, 9) / 1000;
export const PRO_PURCHASED_AT_SECS = Date.UTC(2025, 7, 4, 15) / 1000;
export const EARLIEST_ANCHOR_SECS = Date.UTC(2025, 8, 1) / 1000;

const REGISTRATION_SPACING_SECS = 146_880;

const USES_BOTH_CLIENTS: ReadonlySet<number> = new Set([3, 24, 61, 119]);
const PRO: ReadonlySet<number> = new Set([1, 2, 3, 5, 8, 13, 21]);
const TRANSFERRED: ReadonlySet<number> = new Set([17, 88, 141]);

/** Fids that have an auth address in addition to their message signers: a wallet that may sign in for them. */
export const AUTH_ADDRESS_FIDS: readonly number[] = [4, 11, 36];
/** The fid whose key for the second client was added and removed again before the week starts. */
export const REMOVED_SIGNER_FID = 43;
/** The fid that replaced its recovery address. */
export const RECOVERY_CHANGE_FID = 73;

export function isDemoFid(fid: number): boolean {
  return Number.isInteger(fid) && fid >= 1 && fid <= DEMO_FID_COUNT;
}

/** Returns all fids of the network, ascending. */
export function demoFids(): number[] {
  return Array.from({ length: DEMO_FID_COUNT }, (_, index) => index + 1);
}

/** Returns the client apps that have a signer key of this fid, the main one first. */
export function clientFidsOf(fid: number): readonly number[] {
  if (USES_BOTH_CLIENTS.has(fid)) return [MAIN_CLIENT_FID, SECOND_CLIENT_FID];
  return fid === SECOND_CLIENT_FID || fid % 6 === 0 ? [SECOND_CLIENT_FID] : [MAIN_CLIENT_FID];
}

/** Reports whether an fid has Pro, which allows it to write casts of more than 1,024 bytes and to set a banner. */
export function isPro(fid: number): boolean {
  return PRO.has(fid);
}

/** Returns when the fid was registered, in unix seconds: a fixed day of 2024, later for higher fids. */
export function registeredAtSecs(fid: number): number {
  const jitter = seededRandom(`registered ${fid}`).below(REGISTRATION_SPACING_SECS);
  return FIRST_REGISTRATION_SECS + (fid - 1) * REGISTRATION_SPACING_SECS + jitter;
}

/** Returns when the fid moved to its current custody address, in unix seconds; undefined if it never moved. */
export function transferredAtSecs(fid: number): number | undefined {
  return TRANSFERRED.has(fid) ? Date.UTC(2025, 2, 3, 12) / 1000 + fid * DAY_SECS : undefined;
}

/** Values that are known only when a message is signed. */
interface Signing {
  readonly unixSecs: number;
  readonly network: FarcasterNetwork;
  /** Returns the hash of a message that was signed before this one. */
  hashOf(message: PlannedMessage): Uint8Array;
}

/**
 * A message of the demo week before it is signed. Plans count back from the anchor and refer to each other as objects, so that one plan
 * serves every anchor: times, and the hashes that depend on them, are filled in at signing.
 */
export interface PlannedMessage {
  readonly fid: number;
  readonly type: MessageType;
  /** 0 is the anchor, WEEK_SECS the start of the week. */
  readonly secsBeforeAnchor: number;
  readonly body: (signing: Signing) => NonNullable<MessageData["body"]>;
}

export const HOUR_SECS = 3600;
export const DAY_SECS = 86_400;
export const WEEK_SECS = 7 * DAY_SECS;

const LEAST_DELAY_SECS = 15;

/** Returns a later time, on average by `meanDelaySecs`; undefined if it would be after the anchor. */
export function somewhatLater(
  secsBeforeAnchor: number,
  meanDelaySecs: number,
  random: Random,
): number | undefined {
  const later =
    secsBeforeAnchor - LEAST_DELAY_SECS - Math.floor(-Math.log(1 - random.next()) * meanDelaySecs);
  return later >= 0 ? later : undefined;
}
