// The library that checks values against schemas. Loading it is slow, so a service starts without
// it and loads it with the first value that is checked. It loads synchronously, because a check
// cannot wait.
import { createRequire } from 'node:module';
import type * as ajv from 'ajv/dist/2020.js';
import type { FormatsPlugin } from 'ajv-formats';
import { lazy } from '../../core/base/lazy.ts';

const load = createRequire(import.meta.url);

export const checkerLibrary = lazy(() => {
  const { Ajv2020, Name, _: code }: typeof ajv = load('ajv/dist/2020.js');
  const addFormats: FormatsPlugin = load('ajv-formats');
  return { Ajv2020, Name, code, addFormats };
});
