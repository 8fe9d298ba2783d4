// A realistic order and its schema: nested, with formats, patterns and alternatives.

const money = {
  type: 'object',
  required: ['amount', 'currency'],
  properties: {
    amount: { type: 'integer', minimum: 0 },
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
  },
};
const line = {
  type: 'object',
  required: ['sku', 'quantity', 'price'],
  properties: {
    sku: { type: 'string', pattern: '^[A-Z0-9-]{4,20}$' },
    quantity: { type: 'integer', minimum: 1, maximum: 1000 },
    price: { $ref: '#/components/schemas/Money' },
    note: { type: ['string', 'null'], maxLength: 200 },
  },
};
const customer = {
  type: 'object',
  required: ['id', 'email'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    email: { type: 'string', format: 'email' },
    name: { type: 'string', minLength: 1, maxLength: 100 },
    address: {
      oneOf: [
        {
          type: 'object',
          required: ['street', 'city'],
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
        { type: 'object', required: ['box'], properties: { box: { type: 'string' } } },
      ],
    },
  },
};
const order = {
  type: 'object',
  required: ['message', 'id', 'status', 'createdAt', 'customer', 'lines'],
  properties: {
    message: { type: 'string' },
    id: { type: 'string', pattern: '^ord_[0-9a-z]{10,30}$' },
    status: { type: 'string', enum: ['new', 'paid', 'sent', 'done', 'returned'] },
    createdAt: { type: 'string', format: 'date-time' },
    customer: { $ref: '#/components/schemas/Customer' },
    lines: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: { $ref: '#/components/schemas/Line' },
    },
    total: { $ref: '#/components/schemas/Money' },
    tags: { type: 'array', uniqueItems: true, items: { type: 'string' } },
    isGift: { type: 'boolean' },
    meta: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

export const orderSchemas = { Order: order, Customer: customer, Line: line, Money: money };

export function makeOrder(): unknown {
  const price = { amount: 1999, currency: 'EUR' };
  return {
    message: 'An order was created',
    id: 'ord_01m7fkm1h535yh6xsqmgfvgm09',
    status: 'paid',
    createdAt: '2026-11-15T10:48:00Z',
    customer: {
      id: '0190f6a2-6c1e-7c3a-9d64-0d6b7d3a8b11',
      email: 'ada@example.com',
      name: 'Ada Example',
      address: { street: '1 Some Street', city: 'Sometown' },
    },
    lines: Array.from({ length: 5 }, (_, at) => ({
      sku: `ABC-${1000 + at}`,
      quantity: at + 1,
      price,
      note: null,
    })),
    total: { amount: 29985, currency: 'EUR' },
    tags: ['first', 'web'],
    isGift: false,
    meta: { channel: 'web', campaign: 'autumn' },
  };
}
