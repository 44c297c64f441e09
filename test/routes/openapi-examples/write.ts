import { examplesPath, generateExamples, readExamples, textOf } from "./generate.ts";

/** Writes the examples of the OpenAPI document again: `bun run openapi:examples`. */
await Bun.write(examplesPath, textOf(await generateExamples(await readExamples())));
