import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';
import { importRules } from './import-rules.mjs';

const TESTS = ['**/*.spec.ts', '**/*.spec.tsx', 'apps/e2e/**', '**/test-*.ts'];

const environmentOnlyInConfig = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'The environment is read in config.ts only.',
};
const namedExports = { selector: 'ExportDefaultDeclaration', message: 'Export by name.' };
const noEnums = { selector: 'TSEnumDeclaration', message: 'Use a union of strings.' };

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/generated/**',
      '**/node_modules/**',
      '.nx/**',
      '.dormouse/**',
      '**/*.mjs',
      '**/*.cjs',
      '**/*.config.ts',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { imports: importRules },
    settings: { importRoot: import.meta.dirname },
    rules: {
      'imports/allowed': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': [
        'error',
        { 'ts-expect-error': true, 'ts-ignore': true, 'ts-nocheck': true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 80 }],
      'no-restricted-syntax': ['error', environmentOnlyInConfig, namedExports, noEnums],
      'no-console': 'error',
    },
  },
  {
    // The one place that reads the environment, and programs whose purpose is their standard output.
    files: ['**/config.ts'],
    rules: { 'no-restricted-syntax': ['error', namedExports, noEnums] },
  },
  {
    files: ['tools/**', '**/quiet-libsignal.ts', '**/silent-console.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // TanStack Router redirects by throwing what it makes.
    files: ['apps/dashboard/src/**'],
    rules: {
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    },
  },
  {
    files: TESTS,
    rules: {
      'max-lines-per-function': 'off',
      'no-restricted-syntax': ['error', namedExports, noEnums],
      '@typescript-eslint/require-await': 'off',
      // Jest's matchers are typed any, and take methods without their object.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
    },
  },
  {
    // Jest imports its global setup and its environments by default export.
    files: [
      'tools/stack/src/testing/jest-stores.ts',
      'tools/stack/src/testing/jest-shared-stacks.ts',
      'tools/stack/src/testing/jest-native-environment.ts',
      'tools/stack/src/testing/jest-unit-environment.ts',
      'tools/stack/src/testing/jest-integration-environment.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', environmentOnlyInConfig, noEnums] },
  },
  prettier,
);
