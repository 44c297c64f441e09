import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./src/db/index/schema/*.ts",
  out: "./drizzle/index",
});
