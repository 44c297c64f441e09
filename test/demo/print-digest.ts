import { digestOf, readNetwork } from "./records.ts";

// Run by the determinism test in a process of its own.
process.stdout.write(digestOf(readNetwork(Number(process.argv[2])).records));
