import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: '../../prisma/global/schema.prisma',
  migrations: { path: '../../prisma/global/migrations' },
});
