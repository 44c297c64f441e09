import { createCertificateAuthority } from "../support/certificates.ts";

const { subtle } = crypto;
const P256 = { name: "ECDH", namedCurve: "P-256" } as const;

/** A browser that decrypts by RFC 8291 and RFC 8188, with nothing of ours. */
export async function createBrowser(given?: {
  readonly privateKey: CryptoKey;
  readonly publicKey: string;
  readonly auth: string;
}) {
  const pair = given ? undefined : await subtle.generateKey(P256, true, ["deriveBits"]);
  const privateKey = given?.privateKey ?? (pair as CryptoKeyPair).privateKey;
  const point = given
    ? Buffer.from(given.publicKey, "base64url")
    : Buffer.from(await subtle.exportKey("raw", (pair as CryptoKeyPair).publicKey));
  const auth = given
    ? Buffer.from(given.auth, "base64url")
    : Buffer.from(crypto.getRandomValues(new Uint8Array(16)));
  const hkdf = async (
    secret: Uint8Array<ArrayBuffer>,
    salt: Uint8Array<ArrayBuffer>,
    info: Uint8Array<ArrayBuffer>,
    bytes: number,
  ) => {
    const key = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
    return new Uint8Array(
      await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, bytes * 8),
    );
  };
  return {
    keys: { p256dh: point.toString("base64url"), auth: auth.toString("base64url") },
    async decrypt(body: Uint8Array): Promise<string> {
      const bytes = Buffer.from(body);
      const salt = new Uint8Array(bytes.subarray(0, 16));
      const idBytes = bytes.readUInt8(20);
      const sender = new Uint8Array(bytes.subarray(21, 21 + idBytes));
      const theirs = await subtle.importKey("raw", sender, P256, false, []);
      const shared = new Uint8Array(
        await subtle.deriveBits({ name: "ECDH", public: theirs }, privateKey, 256),
      );
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), point, sender]);
      const ikm = await hkdf(shared, new Uint8Array(auth), new Uint8Array(info), 32);
      const text = (label: string) => new Uint8Array(Buffer.from(label));
      const key = await subtle.importKey(
        "raw",
        await hkdf(ikm, salt, text("Content-Encoding: aes128gcm\0"), 16),
        "AES-GCM",
        false,
        ["decrypt"],
      );
      const iv = await hkdf(ikm, salt, text("Content-Encoding: nonce\0"), 12);
      const record = new Uint8Array(bytes.subarray(21 + idBytes));
      if (record.length > bytes.readUInt32BE(16)) throw new Error("more than one record");
      const plain = Buffer.from(await subtle.decrypt({ name: "AES-GCM", iv }, key, record));
      const end = plain.findLastIndex((byte) => byte !== 0);
      if (plain[end] !== 2) throw new Error("the last record has another mark");
      return plain.subarray(0, end).toString();
    },
  };
}

/** Verifies a `vapid` authorization and returns its claims. */
export async function vapidClaims(authorization: string) {
  const [, token = "", publicKey = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
  const [header = "", payload = "", signature = ""] = token.split(".");
  const raw = new Uint8Array(Buffer.from(publicKey, "base64url"));
  const key = await subtle.importKey("raw", raw, { name: "ECDSA", namedCurve: "P-256" }, false, ["verify"]);
  const isValid = await subtle.verify(
    { name: "ECDSA", hash: "SHA-256" },
    key,
    new Uint8Array(Buffer.from(signature, "base64url")),
    new Uint8Array(Buffer.from(`${header}.${payload}`)),
  );
  if (!isValid) throw new Error("the token is not signed by its key");
  const read = (part: string) =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  return { header: read(header), claims: read(payload), publicKey };
}

export interface PushRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** A push service under `https://push.example`, whose responses `status` decides. */
export function startPushService() {
  const authority = createCertificateAuthority();
  const requests: PushRequest[] = [];
  const service = {
    status: 201,
    headers: {} as Record<string, string>,
    /** What a call of `/hangs` waits for. */
    hangs: Promise.resolve(),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: authority.issue(["push.example", "hooks.example"]),
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      requests.push({ path: new URL(request.url).pathname, headers: request.headers, body });
      if (requests.at(-1)?.path === "/hangs") await service.hangs;
      return new Response(null, { status: service.status, headers: service.headers });
    },
  });
  return {
    ca: authority.ca,
    requests,
    service,
    origin: `https://push.example:${server.port}`,
    hooks: `https://hooks.example:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
