import { UserDataType } from "../../../src/protocol/wire/generated/message.ts";
import {
  type Expectation,
  type ExpectationContext,
  fidOf,
  found,
  list,
  one,
  refused,
  UNKNOWN_FIDS,
} from "../expectation.ts";
import { hexOf } from "../facts.ts";
import { ascending, type View } from "../view.ts";
import { CLAIMED_NAMES, CUSTODY_SEEDS, custodyOf, FNAMES, WALLETS, X_NAMES } from "../vocabulary.ts";

/** Section 4.3 except storage and channels. */
export function userExpectations({ view, fids }: ExpectationContext): Expectation[] {
  const questions: Expectation[] = [];
  for (const fid of fids) {
    const user = view.user(fidOf(fid));
    questions.push(
      found("/user", { fid }, "user", user),
      found("/user/verifications", { fid }, "user", user),
    );
  }
  const requested = [...fids, ...fids.slice(0, 2)];
  questions.push(
    one("/user/bulk", { fids: requested.join(",") }, { users: view.users(new Set(requested.map(fidOf))) }),
  );
  questions.push(one("/user/bulk", { fids: UNKNOWN_FIDS.join(",") }, { users: [] }));
  questions.push(...byAddress(view), ...byName(view), ...byLocation(view), ...search(view));
  questions.push(...fidPages(view));
  return questions;
}

const SEARCHED = [
  "u",
  "user",
  "user1",
  "USER1",
  "al",
  "alice",
  "alice.",
  "bob",
  "the",
  "liddell",
  "turing",
  "東京",
  "太",
  "ünï",
  "üni",
  "!",
  "nobody",
  "%",
  '"',
  "a b",
  "alan t",
];

function byAddress(view: View): Expectation[] {
  const addresses = WALLETS.map(({ address }) => hexOf(address)).reverse();
  const verifiers = (address: string) =>
    view.verifications
      .filter((verification) => verification.isEthereum && verification.address === address)
      .map(({ fid }) => fid)
      .sort((a, b) => a - b);
  const bulk = (requested: readonly string[]) =>
    one(
      "/user/bulk-by-address",
      { addresses: requested.join(",") },
      { users: view.users(new Set(requested.flatMap((address) => verifiers(address.toLowerCase())))) },
    );
  const custodies = [...new Set([...CUSTODY_SEEDS, "custody 3", "nobody"])].map((seed) =>
    hexOf(custodyOf(seed)),
  );
  return [
    // `scores.mode` is off.
    refused("/user/score", { fid: 1 }, 404),
    bulk(addresses),
    bulk(addresses.slice(0, 1)),
    bulk([`0x${addresses[1]?.slice(2).toUpperCase()}`]),
    bulk([hexOf(custodyOf("nobody"))]),
    ...custodies.map((address) => {
      const holder = view.fids.find((fid) => view.network.custodyOf(fid) === address);
      const user = holder === undefined ? undefined : view.user(holder);
      return found("/user/custody-address", { custody_address: address }, "user", user);
    }),
  ];
}

/** Returns the fid of the live proof of a name. */
export function nameHolder(view: View, name: string): number | undefined {
  const fid = view.network.nameOwner(name);
  return fid !== undefined && view.exists(fid) ? fid : undefined;
}

function byName(view: View): Expectation[] {
  const names = [
    ...FNAMES,
    ...CLAIMED_NAMES,
    "user1",
    "user2",
    "user12",
    "User1",
    "ALICE",
    "nobody",
    "!3",
    "@user1",
  ];
  return [
    ...names.flatMap((username) => {
      const holder = nameHolder(view, username);
      const user = holder === undefined ? undefined : view.user(holder);
      return ["/user/by-username", "/user/by_username"].map((path) =>
        found(path, { username }, "user", user),
      );
    }),
    ...[...X_NAMES, "Alice", "nobody"].map((username) => {
      const holder = view.fids.find(
        (fid) => view.userData(fid, UserDataType.USER_DATA_TYPE_TWITTER) === username.toLowerCase(),
      );
      const user = holder === undefined ? undefined : view.user(holder);
      return found("/user/by_x_username", { username }, "user", user);
    }),
  ];
}

function byLocation(view: View): Expectation[] {
  return ["geo:", "GEO:52", "geo:52.52,-13.40", "geo:-", "52.52", "geo:99", "%", "geo:_"].map((location) => {
    const there = view.fids
      .flatMap((fid) => {
        const declared = view.userData(fid, UserDataType.USER_DATA_TYPE_LOCATION);
        return declared?.startsWith(location.toLowerCase()) ? [{ fid, declared }] : [];
      })
      .sort((a, b) => ascending(a.declared, b.declared) || a.fid - b.fid);
    return list(["/user/by_location"], { location }, { users: view.users(there.map(({ fid }) => fid)) });
  });
}

/** The expected order is that of the tiers, then by followers. */
function search(view: View): Expectation[] {
  return SEARCHED.map((q) => list(["/user/search"], { q }, { users: view.users(searchUsers(view, q)) }));
}

/** The words of a text: each character of a script without spaces is one. */
function wordsOf(text: string | null): string[] {
  const plain = (text ?? "")
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase();
  return [...plain.matchAll(/[\p{Script=Han}]|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu)].map(([word]) => word);
}

export function searchUsers(view: View, q: string): number[] {
  const text = q.toLowerCase();
  const words = wordsOf(q);
  const tierOf = (fid: number) => {
    const username = view.usernameOf(fid);
    const isNamed = !username.startsWith("!");
    const named = isNamed ? wordsOf(username) : [];
    const display = wordsOf(view.userData(fid, UserDataType.USER_DATA_TYPE_DISPLAY));
    const have = (known: string[]) => words.every((word) => known.some((one) => one.startsWith(word)));
    return [
      isNamed && username === text,
      isNamed && username.startsWith(text),
      have(named),
      words.every((word) => display.includes(word)),
      have(display),
      have([...named, ...display]),
    ].indexOf(true);
  };
  if (words.length === 0) return [];
  return view.fids
    .map((fid) => ({ fid, tier: tierOf(fid), followers: view.followerCount(fid) }))
    .filter(({ tier }) => tier >= 0)
    .sort((a, b) => a.tier - b.tier || b.followers - a.followers || a.fid - b.fid)
    .map(({ fid }) => fid);
}

function fidPages(view: View): Expectation[] {
  return [list(["/user/fid"], {}, { fids: view.fids })];
}
