import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import { addressBytes } from "./dns.ts";

/** A certificate and its key, both PEM. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority {
  /** Its own certificate, PEM. */
  readonly ca: string;
  /** Issues a server certificate for names (`a.example`) and IP addresses. */
  issue(subjects: readonly string[], options?: { expired?: boolean }): Credentials;
}

const DAY_MS = 86_400_000;

/** Creates an authority for one test, without keys in the repository or `openssl` on the machine. */
export function createCertificateAuthority(): CertificateAuthority {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = name("Test authority");
  const basicConstraints = extension("551d13", sequence(boolean(true)), true);
  return {
    ca: certificate(issuer, authority.publicKey, [basicConstraints], DAY_MS),
    issue(subjects, options) {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const alternatives = subjects.map((subject) =>
        isIP(subject) === 0 ? der(0x82, Buffer.from(subject, "ascii")) : der(0x87, addressBytes(subject)),
      );
      const extensions = [extension("551d11", sequence(...alternatives), false)];
      return {
        cert: certificate(name("Test server"), publicKey, extensions, options?.expired ? -DAY_MS : DAY_MS),
        key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };

  function certificate(
    subject: Buffer,
    publicKey: KeyObject,
    extensions: Buffer[],
    lifetimeMs: number,
  ): string {
    const ecdsaWithSha256 = sequence(der(0x06, Buffer.from("2a8648ce3d040302", "hex")));
    const body = sequence(
      der(0xa0, der(0x02, Buffer.of(2))),
      der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
      ecdsaWithSha256,
      issuer,
      sequence(time(Date.now() - 2 * DAY_MS), time(Date.now() + lifetimeMs)),
      subject,
      publicKey.export({ type: "spki", format: "der" }),
      der(0xa3, sequence(...extensions)),
    );
    const signature = Buffer.concat([Buffer.of(0), sign("sha256", body, authority.privateKey)]);
    const whole = sequence(body, ecdsaWithSha256, der(0x03, signature));
    const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
    return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
  }
}

function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts));

const boolean = (value: boolean): Buffer => der(0x01, Buffer.of(value ? 0xff : 0));

function name(commonName: string): Buffer {
  const attribute = sequence(
    der(0x06, Buffer.from("550403", "hex")),
    der(0x0c, Buffer.from(commonName, "utf8")),
  );
  return sequence(der(0x31, attribute));
}

function time(unixMs: number): Buffer {
  const digits = new Date(unixMs).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return der(0x18, Buffer.from(digits, "ascii"));
}

function extension(oid: string, value: Buffer, critical: boolean): Buffer {
  const id = der(0x06, Buffer.from(oid, "hex"));
  return sequence(id, ...(critical ? [boolean(true)] : []), der(0x04, value));
}
