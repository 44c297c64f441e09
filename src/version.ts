import { name, version as packageVersion } from "../package.json" with { type: "json" };

// Set by `bun build --define`; undefined when the sources run.
declare const BUILD_VERSION: string | undefined;
declare const BUILD_COMMIT: string | undefined;
declare const BUILD_DATE: string | undefined;
declare const BUILD_WITHOUT: string | undefined;

/** The name of the program on the command line. */
export const programName: string = name;

/** The release version, as in package.json. */
export const version: string = typeof BUILD_VERSION === "string" ? BUILD_VERSION : packageVersion;

/** The commit that the binary was built from; "dev" when the sources run. */
export const commit: string = typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "dev";

/** When the binary was built (ISO 8601); "dev" when the sources run. */
export const buildDate: string = typeof BUILD_DATE === "string" ? BUILD_DATE : "dev";

/** The names of the parts that this build leaves out. */
export const leftOut: readonly string[] = typeof BUILD_WITHOUT === "string" ? BUILD_WITHOUT.split(",") : [];
