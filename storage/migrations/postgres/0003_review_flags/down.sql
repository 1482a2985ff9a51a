DROP TABLE security_reviews;
