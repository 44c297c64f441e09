import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { join } from "node:path";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { err } from "../../src/lib/result.ts";
import { createSignInNonces } from "../../src/sign-in/nonces.ts";
import { createQuickAuth } from "../../src/sign-in/quick-auth.ts";
import { createTokenSigner } from "../../src/sign-in/tokens/token-signer.ts";
import { createMasterKeyText, readMasterKey } from "../../src/vault/master-key.ts";
import { createSealer } from "../../src/vault/sealer.ts";
import type { TestApi } from "../support/api.ts";
import { ManualClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";
import { IS_LONG } from "../support/long.ts";
import { tempDir } from "../support/program.ts";
import {
  DOMAIN,
  newNonce,
  PERSON,
  post,
  signInMessage,
  signText,
  startSignInApi,
} from "../support/sign-in.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

/** Verifiers of other libraries, which keep the list of keys. */

const VERIFICATIONS = IS_LONG ? 10_000 : 600;
const SIGN_INS = IS_LONG ? 200 : 40;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

let api: TestApi;
beforeAll(async () => {
  api = await startSignInApi();
});
afterAll(() => api[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

async function newToken(): Promise<string> {
  const message = signInMessage(await newNonce(api));
  const { body } = await post(api, "/quick-auth/verify-siwf", {
    message,
    signature: signText(message),
    domain: DOMAIN,
  });
  return String(body.token);
}

const keySetUrl = () => new URL(`${api.url}/quick-auth/.well-known/jwks.json`);

/** The tokens of a node whose clocks the test moves, and the list of keys that it serves. */
function startTokens(clock: ManualClock) {
  const file = openStateFile();
  const { signInKeys: keys, signInNonces } = localStores(file.db, { clock });
  const settings = { tokenTtlSecs: 3600, algorithm: "RS256", rotationDays: 30 } as const;
  const sealer = createSealer([readMasterKey(createMasterKeyText())], "svc quick auth key 1");
  const signer = createTokenSigner({ store: keys, sealer, clock, log: silentLog, settings });
  const nonces = createSignInNonces({ store: signInNonces, clock });
  const refused = async () =>
    err({ reason: "malformed", message: "tokens are made without messages" } as const);
  const quickAuth = createQuickAuth({
    nonces,
    verifier: { verify: refused, verifyAddress: refused },
    keys,
    signer,
    linkBase: () => "https://node.example",
    keyEpoch: () => 0,
    clock,
    settings: { ...settings, domains: [] },
    count: () => undefined,
    monotonicMs: () => clock.nowMs(),
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async () => Response.json({ keys: await quickAuth.publicKeys() }),
  });
  return {
    keySet: new URL(`http://127.0.0.1:${server.port}/`),
    issuer: "https://node.example/quick-auth",
    newToken: async () =>
      String(await quickAuth.tokenFor({ fid: PERSON, authMethod: "custody", domain: DOMAIN })),
    hasNextKey: async () => (await keys.list()).length > 1,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      file[Symbol.dispose]();
    },
  };
}

test(`check 8: of ${VERIFICATIONS} verifications by jose, with its cache, none fails while the key rotates`, async () => {
  const started = Date.now();
  const clock = new ManualClock(Math.floor(started / 1000));
  await using tokens = startTokens(clock);
  await tokens.newToken();
  // From ten minutes before the next key is listed to an hour after it signs.
  const from = started + 30 * DAY_MS - 30 * MINUTE_MS;
  const until = started + 30 * DAY_MS + 60 * MINUTE_MS;
  const rotatesAt = started + 30 * DAY_MS - 20 * MINUTE_MS;
  const options = { issuer: tokens.issuer, audience: DOMAIN };
  const verifiers = [0, 1, 2].map(() => createRemoteJWKSet(tokens.keySet));
  const made: { readonly token: string; readonly signedAt: number }[] = [];
  const kids = new Set<string>();
  const every = Math.ceil(VERIFICATIONS / SIGN_INS);
  for (let n = 0; n < VERIFICATIONS; n += 1) {
    const now = from + Math.floor(((until - from) * n) / VERIFICATIONS);
    clock.setMs(now);
    setSystemTime(new Date(now));
    if (n % every === 0) {
      made.push({ token: await tokens.newToken(), signedAt: now });
      // The next key is made beside the token, and the clock of the test does not wait for it.
      if (now >= rotatesAt) while (!(await tokens.hasNextKey())) await Bun.sleep(5);
    }
    // Any token that lives; the last one at every second step.
    const alive = made.filter(({ signedAt }) => now - signedAt < 59 * MINUTE_MS);
    const { token } = alive[n % 2 === 0 ? alive.length - 1 : (n * 7) % alive.length] as { token: string };
    const verifier = verifiers[n % verifiers.length] as (typeof verifiers)[number];
    const { payload, protectedHeader } = await jwtVerify(token, verifier, options);
    expect(payload.sub as unknown).toBe(PERSON);
    kids.add(String(protectedHeader.kid));
  }
  expect(kids.size).toBe(2);
}, 300_000);

const run = async (command: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) => {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out: out.trim(), errors };
};

/** What a verifier of another language gets: the keys, the issuer, the audience and a token. */
const environment = (token: string) => ({
  KEYS: keySetUrl().href,
  ISSUER: `${api.url}/quick-auth`,
  AUDIENCE: DOMAIN,
  TOKEN: token,
});
const altered = (token: string) => `${token.slice(0, -8)}${token.endsWith("AAAAAAAA") ? "B" : "A"}AAAAAAA`;

const PYTHON = `
import os, jwt
env = os.environ
key = jwt.PyJWKClient(env["KEYS"]).get_signing_key_from_jwt(env["TOKEN"])
claims = jwt.decode(env["TOKEN"], key.key, algorithms=["RS256"], audience=env["AUDIENCE"], issuer=env["ISSUER"], options={"verify_sub": False})
print(claims["sub"])
`;

/** Packages are downloaded, so only the long form does it, on a machine that has the tool. */
const hasPython = IS_LONG && Bun.which("python3") !== null;
const hasGo = IS_LONG && Bun.which("go") !== null;

test.skipIf(!hasPython)(
  "check 7: PyJWT verifies a token from the key set",
  async () => {
    using dir = tempDir();
    const python = join(dir.path, "venv/bin/python");
    expect((await run(["python3", "-m", "venv", "venv"], dir.path)).code).toBe(0);
    const installed = await run([python, "-m", "pip", "install", "-q", "pyjwt[crypto]==2.15.1"], dir.path);
    expect(installed).toMatchObject({ code: 0 });
    await Bun.write(join(dir.path, "verify.py"), PYTHON);
    const token = await newToken();
    expect(await run([python, "verify.py"], dir.path, environment(token))).toMatchObject({
      out: String(PERSON),
    });
    const refused = await run([python, "verify.py"], dir.path, environment(altered(token)));
    expect(refused.errors).toContain("InvalidSignatureError");
  },
  300_000,
);

const GO = `package main

import (
	"fmt"
	"os"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

func main() {
	keys, err := keyfunc.NewDefault([]string{os.Getenv("KEYS")})
	if err != nil {
		panic(err)
	}
	token, err := jwt.Parse(os.Getenv("TOKEN"), keys.Keyfunc, jwt.WithValidMethods([]string{"RS256"}),
		jwt.WithIssuer(os.Getenv("ISSUER")), jwt.WithAudience(os.Getenv("AUDIENCE")), jwt.WithExpirationRequired())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(token.Claims.(jwt.MapClaims)["sub"])
}
`;

test.skipIf(!hasGo)(
  "check 7: golang-jwt verifies a token from the key set",
  async () => {
    using dir = tempDir();
    await Bun.write(join(dir.path, "main.go"), GO);
    await run(["go", "mod", "init", "verify"], dir.path);
    const modules = ["github.com/golang-jwt/jwt/v5@v5.3.1", "github.com/MicahParks/keyfunc/v3@v3.9.2"];
    expect(await run(["go", "get", ...modules], dir.path)).toMatchObject({ code: 0 });
    expect(await run(["go", "build", "-o", "verify", "."], dir.path)).toMatchObject({ code: 0 });
    const token = await newToken();
    const program = join(dir.path, "verify");
    expect(await run([program], dir.path, environment(token))).toMatchObject({ out: String(PERSON) });
    const refused = await run([program], dir.path, environment(altered(token)));
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("signature is invalid") });
  },
  300_000,
);
