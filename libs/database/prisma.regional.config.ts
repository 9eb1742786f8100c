import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: '../../prisma/regional/schema.prisma',
  migrations: { path: '../../prisma/regional/migrations' },
});
