/** Modules of React Native, which are not installed here. They are not checked. */
declare module 'expo-secure-store';
declare module 'react-native';
declare module 'react-native-argon2';
declare module 'react-native-get-random-values';
