import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { recoverMessageAddress } from "viem";
import { fromHex, type Hex, recoverAddress } from "../src/protocol/validate/eth.ts";
import { hashSignedText } from "../src/sign-in/verify-message.ts";
import type { TestApi } from "../test/support/api.ts";
import { custody, DOMAIN, PERSON, signInMessage, signText, startSignInApi } from "../test/support/sign-in.ts";
import { leastCpuUsOfEach } from "./in-process.ts";
import type { Figure } from "./main.ts";

const WARM_UP_RUNS = 8;
const RUNS = 12;
const SIGN_INS_PER_RUN = 96;
const AT_ONCE = 16;
const BATCHES = 20;

const NAMES = ["viem", "own", "whole", "atOnce"] as const;
const UNKNOWN = Number.POSITIVE_INFINITY;

interface SignIn {
  readonly message: string;
  readonly signature: Hex;
}

/**
 * Measures sign-ins by an ordinary wallet through the whole HTTP interface of one thread, each with a nonce that is synced
 * to disk, interleaved with bare recovery of the address and signing of a token on the same thread; then `/verify-jwt` and
 * the list of keys, compared with a cached read. The figures are CPU times, the lowest of the runs, which approximate an
 * undisturbed core.
 */
export async function benchSignIn(): Promise<Figure[]> {
  await using api = await startSignInApi();
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  /** A token of the usual size. */
  const signToken = () => sign("sha256", randomBytes(320), privateKey);
  const least = { viem: UNKNOWN, own: UNKNOWN, whole: UNKNOWN, atOnce: UNKNOWN };
  let token = "";
  for (let run = 0; run < WARM_UP_RUNS + RUNS; run += 1) {
    api.node.clock.setMs(Date.now());
    const all = await newSignIns(api);
    const others = await newSignIns(api);
    const took = {
      viem: await cpuUs(async () => {
        for (const { message, signature } of all) {
          expectSigner(fromHex((await recoverMessageAddress({ message, signature })) as Hex));
          signToken();
        }
      }),
      own: await cpuUs(async () => {
        for (const { message, signature } of all) {
          expectSigner(recoverAddress(hashSignedText(message), fromHex(signature)));
          signToken();
        }
      }),
      whole: await cpuUs(async () => {
        for (const signIn of all) token = await sendSignIn(api, signIn);
      }),
      atOnce: await cpuUs(async () => {
        for (let at = 0; at < others.length; at += AT_ONCE)
          await Promise.all(others.slice(at, at + AT_ONCE).map((signIn) => sendSignIn(api, signIn)));
      }),
    };
    if (run < WARM_UP_RUNS) continue;
    for (const name of NAMES) least[name] = Math.min(least[name], took[name]);
  }
  const verifyUrl = `http://localhost:1/quick-auth/verify-jwt?${new URLSearchParams({ token, domain: DOMAIN })}`;
  const urls = [
    `http://localhost:1/v2/svc/user?fid=${PERSON}`,
    verifyUrl,
    "http://localhost:1/quick-auth/.well-known/jwks.json",
  ];
  for (const url of urls) {
    const { status } = await api.handle(new Request(url));
    if (status !== 200) throw new Error(`${url} returned ${status}`);
  }
  const [cached = 0, verified = 0, keys = 0] = await leastCpuUsOfEach(
    BATCHES,
    urls.map((url) => () => api.handle(new Request(url))),
  );
  const unit = "us of CPU";
  const ofCached = (value: number) => ({ of: "a cached read", value: value / cached });
  const [viem, own] = ["bare recovery by viem, and signing", "bare recovery, own, and signing"];
  return [
    { what: viem, value: least.viem, unit },
    { what: own, value: least.own, unit, ratio: { of: viem, value: least.own / least.viem } },
    {
      what: "sign-in, sequential, durable nonce",
      value: least.whole,
      unit,
      ratio: { of: `${viem}, goal 1.30`, value: least.whole / least.viem },
    },
    { what: "the same", value: least.whole, unit, ratio: { of: own, value: least.whole / least.own } },
    {
      what: `sign-in, ${AT_ONCE} at once, durable nonces`,
      value: least.atOnce,
      unit,
      ratio: { of: `${viem}, goal 1.30`, value: least.atOnce / least.viem },
    },
    { what: "the same", value: least.atOnce, unit, ratio: { of: own, value: least.atOnce / least.own } },
    { what: "cached read of a user", value: cached, unit },
    { what: "/verify-jwt", value: verified, unit, ratio: ofCached(verified) },
    { what: "list of keys", value: keys, unit, ratio: ofCached(keys) },
  ];
}

async function post(api: TestApi, path: string, body: object): Promise<Record<string, string>> {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": String(text.length) };
  const request = new Request(`http://localhost:1/quick-auth${path}`, {
    method: "POST",
    headers,
    body: text,
  });
  return (await api.handle(request)).json() as Promise<Record<string, string>>;
}

async function newSignIns(api: TestApi): Promise<SignIn[]> {
  const all: SignIn[] = [];
  for (let n = 0; n < SIGN_INS_PER_RUN; n += 1) {
    const message = signInMessage((await post(api, "/nonce", {})).nonce ?? "");
    all.push({ message, signature: signText(message) });
  }
  return all;
}

async function sendSignIn(api: TestApi, signIn: SignIn): Promise<string> {
  const { token, reason } = await post(api, "/verify-siwf", { ...signIn, domain: DOMAIN });
  if (token === undefined) throw new Error(`a sign-in was refused: ${reason}`);
  return token;
}

function expectSigner(address: Uint8Array | undefined): void {
  if (!address || Buffer.compare(address, custody.address) !== 0)
    throw new Error("another signer was recovered");
}

async function cpuUs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / SIGN_INS_PER_RUN;
}
