import { SQL } from "bun";
import { type PostgresServer, startPostgres } from "../test/support/postgres/server.ts";

/** Starts a server whose commits wait for the disk, prints that, and fails if they do not. */
export async function startDurablePostgres(): Promise<PostgresServer> {
  const server = await startPostgres({ isDurable: true });
  const sql = new SQL(`${server.url}/postgres`, { max: 1 });
  const [found] = await sql.unsafe(
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS synced, current_setting('full_page_writes') AS pages`,
  );
  await sql.close();
  const settings = `fsync ${found.fsync}, synchronous_commit ${found.synced}, full_page_writes ${found.pages}`;
  process.stdout.write(`PostgreSQL ${found.version}: ${settings}\n`);
  if (/off/.test(settings)) throw new Error("the server does not sync its commits");
  return server;
}
