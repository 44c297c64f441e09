import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAppClient } from "@farcaster/auth-client";
import { createPublicClient, custom, type PublicClient } from "viem";
import { optimism } from "viem/chains";
import { createSiweMessage, parseSiweMessage, type SiweMessage } from "viem/siwe";
import { createOwners } from "../../src/auth/owners/owners.ts";
import { type Random, seededRandom } from "../../src/demo/random.ts";
import { fromHex, type Hex } from "../../src/protocol/validate/eth.ts";
import { createSignInNonces } from "../../src/sign-in/nonces.ts";
import { peopleFromIndex } from "../../src/sign-in/people.ts";
import { createSignInVerifier } from "../../src/sign-in/verify-message.ts";
import type { TestApi } from "../support/api.ts";
import { IS_LONG } from "../support/long.ts";
import {
  addressOf,
  authWallet,
  custody,
  DOMAIN,
  OTHER,
  PERSON,
  signInMessage,
  signText,
  startSignInApi,
} from "../support/sign-in.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

/** Mutated messages by the node's verification and by that of auth-client, over the same index. */

const MUTATED = IS_LONG ? 100_000 : 2_500;
const NONCE = "abcdefgh12345678";
const OTHER_DOMAIN = "other.example";

let api: TestApi;
let file: ReturnType<typeof openStateFile>;
beforeAll(async () => {
  api = await startSignInApi();
  file = openStateFile();
});
afterAll(async () => {
  file[Symbol.dispose]();
  await api[Symbol.asyncDispose]();
});

/** A chain that runs no validator of signatures, so that viem recovers the key. */
const publicClient = createPublicClient({
  chain: optimism,
  transport: custom(
    {
      request: async () => {
        throw Object.assign(new Error("execution reverted"), { code: 3 });
      },
    },
    { retryCount: 0 },
  ),
}) as PublicClient;

/** What a mutation puts into a message. */
const PIECES = [
  "\n",
  "\n\n",
  " ",
  "\r",
  "\t",
  "\u00a0",
  "\u0000",
  ":",
  "- ",
  "https://",
  "URI: https://evil.example/",
  "Version: 1",
  "Version: 2",
  "Chain ID: 10",
  "Chain ID: 1",
  "Chain ID: 010",
  "Nonce: aaaaaaaa",
  `Nonce: ${NONCE}`,
  "Expiration Time: 2020-01-01T00:00:00Z",
  "Expiration Time: 2099-01-01T00:00:00.000Z",
  "Not Before: 2099-01-01T00:00:00Z",
  "Not Before: 2020-01-01T00:00:00Z",
  "Request ID: 7",
  "Resources:",
  `- farcaster://fid/${PERSON}`,
  `- farcaster://fid/${PERSON}/`,
  `- farcaster://fid/${OTHER}`,
  "- farcaster://fid/03",
  "- farcaster://fid/",
  "- https://example.com/",
  "Farcaster Auth",
  "Farcaster Connect",
  "farcaster auth",
  OTHER_DOMAIN,
  DOMAIN.toUpperCase(),
  "ü",
] as const;

function mutate(text: string, random: Random): string {
  const lines = text.split("\n");
  const at = random.below(lines.length);
  const position = random.below(text.length + 1);
  const piece = random.pick(PIECES);
  switch (random.below(9)) {
    case 0:
      return text.slice(0, position) + text.slice(position + 1 + random.below(3));
    case 1:
      return text.slice(0, position) + piece + text.slice(position);
    case 2:
      return lines.toSpliced(at, 0, piece).join("\n");
    case 3:
      return lines.toSpliced(at, 1).join("\n");
    case 4:
      return lines.toSpliced(at, 1, piece).join("\n");
    case 5:
      return lines.toSpliced(at, 0, lines[at] ?? "").join("\n");
    case 6:
      return lines.with(at, lines[random.below(lines.length)] ?? "").join("\n");
    case 7: {
      const char = text[position] ?? "";
      const swapped = char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase();
      return text.slice(0, position) + swapped + text.slice(position + 1);
    }
    default:
      return text.slice(0, position) + String.fromCharCode(32 + random.below(95)) + text.slice(position + 1);
  }
}

function mutateSignature(signature: Hex, random: Random): string {
  const at = 2 + random.below(signature.length - 2);
  const digit = random.below(16).toString(16);
  return random.chance(0.2)
    ? signature.slice(0, at)
    : signature.slice(0, at) + digit + signature.slice(at + 1);
}

/**
 * The rules of the node that auth-client has not. A message that breaks none of them must have the same verdict.
 */
const STRICTER: Readonly<Record<string, (text: string, signature: string) => boolean>> = {
  "every byte belongs to a field of EIP-4361, in its form": (text) => {
    const parsed = parseSiweMessage(text);
    try {
      const written = createSiweMessage(parsed as SiweMessage);
      const loosened = (one: string) =>
        one
          .replace(parsed.address ?? "", (address) => address.toLowerCase())
          .replaceAll(/\.\d+(?=Z|[+-]\d\d:)/g, ".000");
      return (
        loosened(written).replace(/0x[0-9a-fA-F]{40}/, "0x") !==
        loosened(text).replace(/0x[0-9a-fA-F]{40}/, "0x")
      );
    } catch {
      return true;
    }
  },
  "an address is in lower case or has its checksum": (text) => {
    const [address = ""] = /0x[0-9a-fA-F]{40}/.exec(text) ?? [];
    return (
      address !== address.toLowerCase() &&
      !text.includes(addressOf(custody)) &&
      !text.includes(addressOf(authWallet))
    );
  },
  "a message is issued within ten minutes": (text) => {
    const issuedAt = parseSiweMessage(text).issuedAt?.getTime() ?? Number.NaN;
    return !(Math.abs(Date.now() - issuedAt) < 60_000);
  },
  "a resource that begins like an fid is one": (text) =>
    /- farcaster:\/\/fid\/(?![1-9]\d{0,15}\/?$)/m.test(text),
  "a signature has 65 bytes, and v of 0, 1, 27 or 28": (_, signature) =>
    !/^0x[0-9a-fA-F]{128}(00|01|1b|1c)$/.test(signature),
};

test(`check 25: ${MUTATED} mutated messages have the verdict of auth-client, but for stricter rules, which are listed`, async () => {
  const { clock } = api.node;
  const owners = createOwners({ db: api.reader });
  const people = peopleFromIndex(api.reader, { owners, followed: undefined });
  const nonces = createSignInNonces({ store: localStores(file.db, { clock }).signInNonces, clock });
  const staleReason = async () => undefined;
  const verifier = createSignInVerifier({ nonces, people, clock, contracts: undefined, staleReason });
  const client = createAppClient({
    ethereum: {
      publicClient,
      getFid: async (address: Hex) =>
        BigInt(people.fidsOf(fromHex(address)).find(({ authMethod }) => authMethod === "custody")?.fid ?? 0),
      isValidAuthAddress: async (address: Hex, fid: bigint) =>
        people
          .fidsOf(fromHex(address))
          .some((one) => one.authMethod === "authAddress" && BigInt(one.fid) === fid),
      // biome-ignore lint/suspicious/noExplicitAny: the connector of the library has the type of another version of viem
    } as any,
  });
  const random = seededRandom("mutated sign-in messages");
  const counts = { accepted: 0, refused: 0, stricter: 0 };
  const unexplained: unknown[] = [];
  for (let n = 0; n < MUTATED; n += 1) {
    // A long run lasts for minutes.
    if (n % 100 === 0) clock.setMs(Date.now());
    const wallet = random.chance(0.3) ? authWallet : custody;
    const original = signInMessage(NONCE, { address: addressOf(wallet) });
    let text = original;
    for (let times = random.below(3); times >= 0; times -= 1) text = mutate(text, random);
    // Most are signed as they are, so that the rules for the text decide.
    let signature: string = signText(random.chance(0.9) ? text : original, wallet);
    if (random.chance(0.1)) signature = mutateSignature(signature as Hex, random);
    const acceptAuthAddress = random.chance(0.8);
    const isHex = /^0x([0-9a-f]{2})+$/.test(signature);
    const ours =
      isHex &&
      (await verifier.verify({
        text,
        signature: fromHex(signature as Hex),
        domain: DOMAIN,
        acceptsAuthAddress: acceptAuthAddress,
        client: "test",
        channel: { nonce: NONCE, siweUri: parseSiweMessage(text).uri ?? "" },
      }));
    const isOurs = ours !== false && ours.ok;
    const theirs = await client.verifySignInMessage({
      nonce: NONCE,
      domain: DOMAIN,
      message: text,
      signature: signature as Hex,
      acceptAuthAddress,
    });
    const isTheirs = theirs.success === true;
    if (isOurs === isTheirs) {
      counts[isOurs ? "accepted" : "refused"] += 1;
      continue;
    }
    counts.stricter += 1;
    // A domain counts in lower case: the spelling of the message may differ.
    const isSpelling =
      isOurs &&
      parseSiweMessage(text).domain !== DOMAIN &&
      parseSiweMessage(text).domain?.toLowerCase() === DOMAIN;
    const isStricter = isTheirs && Object.values(STRICTER).some((breaks) => breaks(text, signature));
    if (!isSpelling && !isStricter) unexplained.push({ text, signature, isOurs, isTheirs, ours });
  }
  expect(unexplained.slice(0, 3)).toEqual([]);
  // Each verdict is frequent enough to mean something.
  expect(counts.accepted).toBeGreaterThan(MUTATED / 100);
  expect(counts.refused).toBeGreaterThan(MUTATED / 4);
  expect(counts.stricter).toBeGreaterThan(MUTATED / 200);
}, 600_000);
