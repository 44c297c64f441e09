import { Database } from "bun:sqlite";

// Acts as a rival that is about to be refused: it holds the lock file shared for an instant, then lets go.
const [path = ""] = process.argv.slice(2);
const database = new Database(path, { create: true, readwrite: true });
database.run("BEGIN");
database.query("SELECT count(*) FROM sqlite_schema").get();
process.stdout.write("passing\n");
setTimeout(() => database.close(), 30);
