import { runScenario } from "./scenario.ts";

// For a page, whose scripts see no modules of this checkout.
Object.assign(globalThis, { runScenario });
