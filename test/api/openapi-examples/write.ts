import { startDemoApi } from "./demo-api.ts";
import { examplesPath, generateExamples, readExamples, textOf } from "./generate.ts";

/** Writes the examples of the OpenAPI document again: `bun run openapi:examples`. */
await using api = await startDemoApi();
await Bun.write(examplesPath, textOf(await generateExamples(api, await readExamples())));
