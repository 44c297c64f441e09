import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./src/index/schema/*.ts",
  out: "./drizzle/index",
});
