// One invalid field of a request, as the service names it: `body#/callbackUrl`, `query.event`.
import type { Problem } from '../../src/client/contract/service.ts';

export type FieldError = NonNullable<Problem['errors']>[number];
