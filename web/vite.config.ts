import { defineConfig } from "vite";
import { inlineAll } from "./inline.ts";

export default defineConfig({
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: { input: "src/main.tsx", output: { format: "iife" } },
  },
  plugins: [inlineAll()],
});
