import type { Catalogue } from '../catalogue.js';

export const signIn: Catalogue['signIn'] = {
  title: 'Iniciar sesión',
  email: 'Correo electrónico',
  password: 'Contraseña',
  submit: 'Entrar',
  codeTitle: 'Introduce tu código',
  code: 'Código de tu aplicación de autenticación',
};
