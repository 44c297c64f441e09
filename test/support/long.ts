/** Whether the long form of tests runs (`bun run test:long`): the suite has a tenth of it. */
export const IS_LONG = process.env.SVC_TEST_LONG === "1";
