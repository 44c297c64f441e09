import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./src/db/state/schema/*.ts",
  out: "./drizzle/state",
});
