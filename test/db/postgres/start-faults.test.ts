import { describe, expect, test } from "bun:test";
import { migratePostgres } from "../../../src/db/postgres/migrate.ts";
import { RetryableError, UserError } from "../../../src/lib/failure.ts";
import { postgresSettings } from "../../../src/node/state/postgres/postgres-settings.ts";
import { emptyDir } from "../../cli/run.ts";
import { load } from "../../config/input.ts";
import { createCertificateAuthority } from "../../support/certificates.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES, startPostgres } from "../../support/postgres/server.ts";

/** What a start says of the way to the server: "ok", or the class of the error and its message. */
async function start(url: string, ...set: string[]): Promise<string> {
  const { config } = load({ flags: { set: [`state.url=${url}`, ...set] } });
  try {
    const settings = postgresSettings(config);
    if (settings) await migratePostgres(settings);
    return "ok";
  } catch (cause) {
    if (cause instanceof UserError) return `exit 1: ${cause.message}`;
    if (cause instanceof RetryableError) return `exit 75: ${cause.message}`;
    throw cause;
  }
}

describe.skipIf(!HAS_POSTGRES)("a start whose way to PostgreSQL is wrong", () => {
  test("says in one line what is wrong, without a secret", async () => {
    await using database = await createDatabase({ isEmpty: true });
    const { host, port, user, password } = database.settings.connect;
    const own = `postgres://${user}:${password}@${host}:${port}`;
    const foreign = `postgres://${user}:${password}@nothing.invalid/d?sslmode=require`;
    const wrong = "a-wrong-secret";
    const said = await Promise.all([
      start(`${own}/nothing-here`),
      start(`postgres://${user}:${wrong}@${host}:${port}/d`),
      start(database.url, `state.password=${wrong}`),
      start(`postgres://${user}:${password}@${host}:1/d`),
      start(foreign),
      start(`${own}/d?sslmode=require`),
      start(database.url, "state.tls_ca_file=/nothing"),
      start(`postgres://${user}:${wrong}@${host}:${port}/${database.name}`, `state.password=${password}`),
    ]);
    const refused = `exit 1: state.url: ${host}:${port}: the server refuses the user or the password.`;
    expect(said).toEqual([
      `exit 1: state.url: ${host}:${port}: the database does not exist: create it.`,
      refused,
      refused,
      `exit 75: state.url: ${host}:1: Failed to connect. Is PostgreSQL running there?`,
      "exit 75: state.url: nothing.invalid:5432: Failed to connect. Is PostgreSQL running there?",
      `exit 1: state.url: ${host}:${port}: Server does not support SSL`,
      "exit 1: state.tls_ca_file: /nothing: the file does not exist",
      "ok",
    ]);
  });

  test("names what the user does not own, as after a restore by another role", async () => {
    await using database = await createDatabase();
    const role = `r${crypto.randomUUID().replaceAll("-", "")}`;
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`);
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(async () => void (await database.query(`DROP ROLE ${role}`)));
    const url = new URL(database.url);
    url.username = role;
    url.password = "p";
    expect(await start(url.href)).toMatch(/^exit 1: .*permission denied .*own all that is in it/);
  });

  test("accepts a certificate by its authority and its name, as sslmode says", async () => {
    const [own, other] = [createCertificateAuthority(), createCertificateAuthority()];
    await using server = await startPostgres({ tls: own.issue(["localhost"]) });
    await using database = await createDatabase({ server, isEmpty: true });
    using dir = emptyDir();
    const files = { own: `${dir.path}/own.pem`, other: `${dir.path}/other.pem` };
    await Bun.write(files.own, own.ca);
    await Bun.write(files.other, other.ca);
    const said = (host: string, mode: string, ca = "") =>
      start(`${database.url.replace("127.0.0.1", host)}?sslmode=${mode}`, `state.tls_ca_file=${ca}`);
    const code = async (host: string, mode: string, ca?: string) =>
      (await said(host, mode, ca)).split(":")[0];
    expect(await said("localhost", "verify-full")).toContain("state.tls_ca_file names a file");
    expect(await code("localhost", "verify-full", files.own)).toBe("ok");
    expect(await code("localhost", "verify-full", files.other)).toBe("exit 1");
    expect(await code("localhost", "verify-full")).toBe("exit 1");
    expect(await code("127.0.0.1", "verify-full", files.own)).toBe("exit 1");
    expect(await code("127.0.0.1", "verify-ca", files.own)).toBe("ok");
    expect(await code("127.0.0.1", "verify-ca", files.other)).toBe("exit 1");
    expect(await code("127.0.0.1", "require")).toBe("ok");
  });
});
