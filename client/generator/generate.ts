/**
 * Generates the client's view of the API from the program itself: `bun run client:generate`. `api.generated.ts` contains the types of
 * every native route, `operations.generated.ts` the names of signed operations, `commands.generated.ts` the commands that call them.
 */
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { commandsFile } from "./commands.ts";
import { generatedHeader, nativeDocument, operationsFile } from "./native-document.ts";

const SOURCES = join(import.meta.dir, "../src");

const document = nativeDocument();
const types = astToString(await openapiTS(JSON.stringify(document)));
await Bun.write(join(SOURCES, "api.generated.ts"), `${generatedHeader(document)}\n${types}`);
await Bun.write(join(SOURCES, "operations.generated.ts"), operationsFile());
await Bun.write(join(SOURCES, "commands.generated.ts"), commandsFile());
